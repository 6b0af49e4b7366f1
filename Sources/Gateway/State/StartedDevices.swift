internal import ClockDispatch
internal import MIDIClock

/// The outputs whose devices were started and not stopped, saved in case this run ends abruptly.
///
/// A device counts from a moment before its Start until it has accepted its Stop. That costs an unneeded Stop at worst;
/// a device forgotten here would play on alone.
struct StartedDevices: Hashable, Sendable {
    /// IDs of the outputs.
    private(set) var ids: Set<String>
    /// Whether a device was told to stop and may still play, so that another check is needed.
    private(set) var awaitsStop = false
    /// The newest board in which each of them was to play.
    private var toldToPlay: [String: UInt64] = [:]

    init(_ ids: [String] = []) { self.ids = Set(ids) }

    /// Updates the set from the present orders and from the devices' state.
    ///
    /// - Parameters:
    ///   - outputs: all outputs; an absent device keeps its state, since it receives nothing.
    ///   - board: the newest one.
    ///   - report: tells which devices may play, once a board without the song is in use.
    mutating func update(_ outputs: [Output], _ board: OutputBoard, _ report: OutputReport) {
        awaitsStop = false
        // A new output with the same ID starts without a history.
        let heard = Set(outputs.filter(\.isHeard).map(\.id))
        toldToPlay = toldToPlay.filter { heard.contains($0.key) }
        for (slot, output) in outputs.enumerated() where output.isHeard {
            if !output.isClock || !output.settings.sendsStop {
                forget(output.id)
            } else if board.transport.isPlaying, output.isEnabled {
                toldToPlay[output.id] = board.generation
                guard output.settings.start != .none, ids.count < OutputBoard.capacity else { continue }
                ids.insert(output.id)
            } else if ids.contains(output.id) {
                // Until a later board is in use, the report may date from before the device's Start, or even from
                // before its output existed.
                let told = toldToPlay[output.id, default: max(1, board.generation) - 1]
                toldToPlay[output.id] = told
                let isKnown = report.generationInUse > told
                if !isKnown || report.mayPlay(slot) { awaitsStop = true } else { forget(output.id) }
            }
        }
    }

    /// Notes that the run has ended, and which devices have not accepted its last Stop.
    mutating func end(_ outputs: [Output], _ report: OutputReport) {
        let left = outputs.enumerated().filter { $1.isHeard && ids.contains($1.id) && report.mayPlay($0) }
        ids = Set(left.map(\.element.id))
    }

    private mutating func forget(_ id: String) {
        ids.remove(id)
        toldToPlay[id] = nil
    }
}

extension Output {
    /// Whether a device receives what this output sends.
    fileprivate var isHeard: Bool {
        guard connectedTo != nil, boardSink.hasReceiver else { return false }
        return presence != .gone
    }
}
