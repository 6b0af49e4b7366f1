internal import ALSASequencer
internal import ClockDispatch
internal import Glibc

/// The outputs that write bytes to a device node, FIFO or serial line.
extension OutputRack {
    /// Whether something has to be looked at again before long, since nobody announces it.
    var needsTending: Bool {
        !retired.isEmpty || isSomeoneLeaving
            || outputs.contains { if case .line = $0.target { $0.presence == .here } else { false } }
    }

    /// Opens lines that are away, takes out those that broke, and closes what nobody uses any more.
    ///
    /// - Parameters:
    ///   - isBroken: says whether the output in a slot has reported its line broken, and resets the report.
    ///   - generations: the board in use by the output thread, and the one published last.
    /// - Returns: whether an output's connection changed.
    mutating func tendLines(
        isBroken: (Int) -> Bool, generations: (inUse: UInt64, published: UInt64)
    ) -> Bool {
        retired.removeAll { line in
            guard line.generation <= generations.inUse else { return false }
            close(line.descriptor)
            return true
        }
        var changed = false
        for index in outputs.indices where outputs[index].presence == .here {
            guard case .line(let path, let speed) = outputs[index].target else { continue }
            if case .line(let descriptor) = outputs[index].sink {
                guard isBroken(index) else { continue }
                retired.append((index, descriptor, generations.published + 1))
                outputs[index].sink = .away
                outputs[index].trouble = "it takes no more bytes"
                changed = outputs[index].setConnected(to: nil) || changed
            } else if !retired.contains(where: { $0.slot == index }), !isHeldByLeaver(path) {
                // Until nobody used the old descriptor any more, the report could be about that one.
                _ = isBroken(index)
                changed = open(index, path: path, bitsPerSecond: speed) || changed
            }
        }
        return changed
    }

    /// Whether an output that is leaving, at another speed perhaps, still has its Stop to send there.
    private func isHeldByLeaver(_ path: String) -> Bool {
        outputs.contains { output in
            guard case .line(path, _) = output.target, case .leaving = output.presence else { return false }
            return output.sink != .away
        }
    }

    private mutating func open(_ index: Int, path: String, bitsPerSecond: Int) -> Bool {
        do {
            outputs[index].sink = .line(try RawLine.open(path: path, bitsPerSecond: bitsPerSecond, for: .writing))
            outputs[index].trouble = nil
            return outputs[index].setConnected(to: path)
        } catch {
            defer { outputs[index].trouble = error.description }
            return outputs[index].trouble != error.description
        }
    }
}
