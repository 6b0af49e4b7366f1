internal import ClockDispatch
internal import MIDIClock

/// The outputs whose devices have been started and not stopped, as the next run must know if this one ends abruptly.
///
/// A device told to play counts a moment before its Start, and one told to stop counts until it has taken its Stop. That
/// costs a superfluous Stop at worst, while a device forgotten here would play on alone.
struct StartedDevices: Hashable, Sendable {
    /// IDs of the outputs.
    private(set) var ids: Set<String>
    /// Whether a device has been told to stop and may play still, so that it is worth looking again.
    private(set) var awaitsStop = false

    init(_ ids: [String] = []) { self.ids = Set(ids) }

    /// Takes over what the outputs are told now, and what is known of their devices.
    ///
    /// - Parameters:
    ///   - outputs: all there are; a device that is away stays as it was, for it hears nothing.
    ///   - isPlaying: whether the song plays.
    ///   - mayPlay: whether the device at a slot may play, by what it has taken.
    mutating func update(_ outputs: [Output], isPlaying: Bool, mayPlay: (Int) -> Bool) {
        awaitsStop = false
        for (slot, output) in outputs.enumerated() where output.isHeard {
            if !output.settings.sendsStop {
                ids.remove(output.id)
            } else if isPlaying, output.isEnabled {
                guard output.settings.start != .none, ids.count < OutputBoard.capacity else { continue }
                ids.insert(output.id)
            } else if ids.contains(output.id) {
                if mayPlay(slot) { awaitsStop = true } else { ids.remove(output.id) }
            }
        }
    }

    /// Takes over that the run has ended, and which devices have not taken its last Stop.
    mutating func end(_ outputs: [Output], mayPlay: (Int) -> Bool) {
        let left = outputs.enumerated().filter { $1.isHeard && ids.contains($1.id) && mayPlay($0) }
        ids = Set(left.map(\.element.id))
    }
}

extension Output {
    /// Whether a device hears what this output sends.
    fileprivate var isHeard: Bool {
        guard connectedTo != nil, boardSink != .away, boardSink != .discard else { return false }
        return presence != .gone
    }
}
