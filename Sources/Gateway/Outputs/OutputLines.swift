internal import BeatTime
internal import ClockDispatch

// Outputs that write bytes to a device node, FIFO or serial line.
extension OutputTable {
    /// How often lines are checked, in microseconds; their return is not announced.
    private static let linePeriod: Int64 = 250_000
    /// How often it is asked whether everything of a removed output has left, in microseconds.
    private static let settlingPeriod: Int64 = 10_000

    /// When lines must be checked next.
    ///
    /// - Parameter now: the present time.
    /// - Returns: nil if there is nothing to check.
    func nextDeadline(after now: HostTime) -> HostTime? {
        let isClockThreadAwaited = !retired.isEmpty || isSomeoneLeaving
        let hasLines = all.contains { !$0.destination.needsSequencer && $0.presence == .here }
        let period = all.contains(where: \.isSettling) ? Self.settlingPeriod : Self.linePeriod
        let check = isClockThreadAwaited || hasLines ? now.advanced(byMicroseconds: period) : nil
        return ([check, watch.next] + all.map(\.bending.deadline)).compactMap(\.self).min()
    }

    /// Opens absent lines, drops broken ones, and closes unused ones.
    ///
    /// - Parameters:
    ///   - report: the output thread's last report.
    ///   - published: generation of the last published board.
    ///   - effects: receives what must be done.
    ///   - now: the present time.
    /// - Returns: whether an output's connection changed.
    mutating func tendLines(
        _ report: OutputReport, _ published: UInt64, _ effects: inout GatewayEffects, at now: HostTime
    ) -> Bool {
        effects.closings += retired.filter { report.isInUse($0.generation) }.map(\.descriptor)
        retired.removeAll { report.isInUse($0.generation) }
        let isCheckDue = lineCheck.map { $0 <= now } ?? true
        if isCheckDue { lineCheck = now.advanced(byMicroseconds: Self.linePeriod) }
        var changed = false
        for slot in all.indices where all[slot].presence == .here {
            guard case .raw(let path, let speed) = all[slot].destination else { continue }
            if case .line(let descriptor) = all[slot].sink {
                guard report.isLineBroken(slot) else { continue }
                retired.append((slot, descriptor, published + 1))
                all[slot].sink = .idle
                all[slot].trouble = .brokenLine
                changed = all[slot].setConnected(to: nil) || changed
            } else if isCheckDue, !isStillOpen(path) {
                // While the old descriptor was in use, a failure report could have been about it.
                effects.questions.append(.openLine(place(slot), path: path, bitsPerSecond: speed))
            }
        }
        return changed
    }

    /// Whether this run still has a line open, such as for an output at another speed that has to send its Stop there.
    private func isStillOpen(_ path: String) -> Bool {
        all.enumerated().contains { slot, output in
            guard case .raw(path, _) = output.destination else { return false }
            return output.isLeaving && output.sink != .idle || retired.contains { $0.slot == slot }
        }
    }

    /// Takes an open line.
    ///
    /// - Returns: whether the output still wants it; if not, the caller must close it.
    mutating func lineOpened(_ place: OutputPlace, _ descriptor: Int32) -> Bool {
        guard isHere(place), case .raw(let path, _) = all[place.slot].destination, all[place.slot].sink == .idle else {
            return false
        }
        all[place.slot].sink = .line(descriptor)
        all[place.slot].trouble = nil
        takeOver(place.slot, path)
        _ = all[place.slot].setConnected(to: path)
        return true
    }

    /// Notes why a line could not be opened.
    ///
    /// - Returns: whether the reason is new.
    mutating func lineRefused(_ place: OutputPlace, _ error: RawLine.OpenError) -> Bool {
        guard isHere(place), case .raw(let path, _) = all[place.slot].destination else { return false }
        let trouble = PortTrouble(opening: error, path: path)
        guard all[place.slot].trouble != trouble else { return false }
        all[place.slot].trouble = trouble
        return true
    }
}
