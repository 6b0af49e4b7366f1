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
    /// The newest board by which each of them was to play.
    private var toldToPlay: [String: UInt64] = [:]

    init(_ ids: [String] = []) { self.ids = Set(ids) }

    /// Takes over what the outputs are told now, and what is known of their devices.
    ///
    /// - Parameters:
    ///   - outputs: all there are; a device that is away stays as it was, for it hears nothing.
    ///   - board: the newest.
    ///   - account: says which devices may play by what they have taken, once a board without the song is in use.
    mutating func update(_ outputs: [Output], _ board: OutputBoard, _ account: ClockAccount) {
        awaitsStop = false
        // What is known of an output is not known of the next one that is called so.
        let heard = Set(outputs.filter(\.isHeard).map(\.id))
        toldToPlay = toldToPlay.filter { heard.contains($0.key) }
        for (slot, output) in outputs.enumerated() where output.isHeard {
            if !output.settings.sendsStop {
                forget(output.id)
            } else if board.transport.isPlaying, output.isEnabled {
                toldToPlay[output.id] = board.generation
                guard output.settings.start != .none, ids.count < OutputBoard.capacity else { continue }
                ids.insert(output.id)
            } else if ids.contains(output.id) {
                // Until a later board is in use, the account may be of before its Start; and until this one is, of
                // before its output.
                let told = toldToPlay[output.id, default: max(1, board.generation) - 1]
                toldToPlay[output.id] = told
                let isKnown = account.generationInUse > told
                if !isKnown || account.mayPlay(slot) { awaitsStop = true } else { forget(output.id) }
            }
        }
    }

    /// Takes over that the run has ended, and which devices have not taken its last Stop.
    mutating func end(_ outputs: [Output], _ account: ClockAccount) {
        let left = outputs.enumerated().filter { $1.isHeard && ids.contains($1.id) && account.mayPlay($0) }
        ids = Set(left.map(\.element.id))
    }

    private mutating func forget(_ id: String) {
        ids.remove(id)
        toldToPlay[id] = nil
    }
}

extension Output {
    /// Whether a device hears what this output sends.
    fileprivate var isHeard: Bool {
        guard connectedTo != nil, boardSink != .away, boardSink != .discard else { return false }
        return presence != .gone
    }
}
