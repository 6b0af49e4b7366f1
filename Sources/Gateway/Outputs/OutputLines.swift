internal import BeatTime
internal import ClockDispatch

// The outputs that write bytes to a device node, FIFO or serial line.
extension OutputTable {
    /// How often lines are looked after, in microseconds; nobody announces their coming.
    private static let linePeriod: Int64 = 250_000

    /// When there is something to look after.
    ///
    /// - Parameter now: the present time.
    /// - Returns: nil while there is not.
    func nextDeadline(after now: HostTime) -> HostTime? {
        let isClockThreadAwaited = !retired.isEmpty || isSomeoneLeaving
        let hasLines = all.contains { if case .line = $0.target { $0.presence == .here } else { false } }
        let check = isClockThreadAwaited || hasLines ? now.advanced(byMicroseconds: Self.linePeriod) : nil
        return [check, watch.next].compactMap(\.self).min()
    }

    /// Has lines opened that are away, takes out those that broke, and has closed what nobody uses any more.
    ///
    /// - Parameters:
    ///   - account: what the clock thread has come to.
    ///   - published: the generation of the board published last.
    ///   - effects: receives what is to be done.
    ///   - now: the present time.
    /// - Returns: whether an output's connection changed.
    mutating func tendLines(
        _ account: ClockAccount, _ published: UInt64, _ effects: inout GatewayEffects, at now: HostTime
    ) -> Bool {
        effects.closings += retired.filter { account.isInUse($0.generation) }.map(\.descriptor)
        retired.removeAll { account.isInUse($0.generation) }
        let isCheckDue = lineCheck.map { $0 <= now } ?? true
        if isCheckDue { lineCheck = now.advanced(byMicroseconds: Self.linePeriod) }
        var changed = false
        for slot in all.indices where all[slot].presence == .here {
            guard case .line(let path, let speed) = all[slot].target else { continue }
            if case .line(let descriptor) = all[slot].sink {
                guard account.isLineBroken(slot) else { continue }
                retired.append((slot, descriptor, published + 1))
                all[slot].sink = .away
                all[slot].trouble = "it takes no more bytes"
                changed = all[slot].setConnected(to: nil) || changed
            } else if isCheckDue, !retired.contains(where: { $0.slot == slot }), !isHeldByLeaver(path) {
                // Until nobody used the old descriptor any more, a report could be about that one.
                effects.questions.append(.openLine(place(slot), path: path, bitsPerSecond: speed))
            }
        }
        return changed
    }

    /// Whether an output that is leaving, at another speed perhaps, still has its Stop to send there.
    private func isHeldByLeaver(_ path: String) -> Bool {
        all.contains { output in
            guard case .line(path, _) = output.target, case .leaving = output.presence else { return false }
            return output.sink != .away
        }
    }

    /// Takes an open line.
    ///
    /// - Returns: whether the output still wants it; else it is to be closed.
    mutating func lineOpened(_ place: OutputPlace, _ descriptor: Int32) -> Bool {
        guard isHere(place), case .line(let path, _) = all[place.slot].target, all[place.slot].sink == .away else {
            return false
        }
        all[place.slot].sink = .line(descriptor)
        all[place.slot].trouble = nil
        _ = all[place.slot].setConnected(to: path)
        return true
    }

    /// Notes why a line could not be opened.
    ///
    /// - Returns: whether that is news.
    mutating func lineRefused(_ place: OutputPlace, _ trouble: String) -> Bool {
        guard isHere(place), all[place.slot].trouble != trouble else { return false }
        all[place.slot].trouble = trouble
        return true
    }
}
