internal import ClockDispatch
internal import MIDIClock

/// The outputs whose devices have been started and not stopped, as the next run must know if this one ends abruptly.
///
/// It follows what the output thread is told, not what that thread has sent: a device told to play counts a moment
/// before its Start. That costs a superfluous Stop at worst, while a device forgotten here would play on alone.
struct StartedDevices: Hashable, Sendable {
    /// IDs of the outputs.
    private(set) var ids: Set<String>

    init(_ ids: [String] = []) { self.ids = Set(ids) }

    /// Takes over what the outputs are told now.
    ///
    /// - Parameters:
    ///   - outputs: all there are; a device that is away stays as it was, for it hears nothing.
    ///   - isPlaying: whether the song plays.
    mutating func update(_ outputs: [Output], isPlaying: Bool) {
        for output in outputs where output.isHeard {
            if !isPlaying || !output.isEnabled || !output.settings.sendsStop {
                ids.remove(output.id)
            } else if output.settings.start != .none, ids.count < OutputBoard.capacity {
                ids.insert(output.id)
            }
        }
    }
}

extension Output {
    /// Whether a device hears what this output sends.
    fileprivate var isHeard: Bool {
        guard connectedTo != nil, boardSink != .away, boardSink != .discard else { return false }
        return presence != .gone
    }
}
