internal import ClockDispatch
internal import MIDIClock

extension OutputBoard {
    /// Copies what the gateway thread knows of the outputs.
    ///
    /// - Parameters:
    ///   - outputs: in the order of their slots.
    ///   - fold: the range to fold tempos into, as far as a device accepts it.
    ///   - probing: the loop guard's probe, and the slots that send it, one bit each; there it replaces the marks for
    ///     calibration.
    mutating func take(
        _ outputs: [Output], folding fold: TempoRange? = nil, probing: (slots: UInt64, probe: Probe)? = nil
    ) {
        count = outputs.count
        for (slot, output) in outputs.enumerated() {
            slots[slot] = Slot(
                stream: output.timeCode.map { .timeCode(start: $0) } ?? .clock, settings: output.settings,
                sink: output.boardSink,
                isEnabled: output.isEnabled, isShared: output.hearers > 1, occupant: output.occupant,
                connections: output.connections, realigning: output.realigning, probe: output.mark,
                rest: output.muted.rest, bend: output.bending.rate)
            slots[slot].settings.tempos = output.tempos(foldedInto: fold)
            if let probing, probing.slots >> UInt64(slot) & 1 == 1 { slots[slot].probe = probing.probe }
        }
    }
}
