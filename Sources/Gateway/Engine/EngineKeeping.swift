internal import MIDIClock
internal import ClockDispatch
internal import Arbiter
internal import BeatTime

// What the next run is to find.
extension GatewayEngine {
    /// Keeps something that the user has set.
    mutating func keep(_ change: (inout KeptState) -> Void) { keep(.setting, change) }

    /// Keeps the offsets that the outputs have.
    mutating func keepOffsets() {
        outputs.keepOffsets()
        let offsets = outputs.offsets
        keep { $0.offsets = offsets }
    }

    /// Keeps the tempo in force, whoever has set it.
    mutating func keepTempo() {
        let tempo = KeptState.rounded(arbiter.timeline.tempo)
        keep(.drift) { $0.tempo = tempo }
    }

    /// Keeps which devices play.
    mutating func keepStarted() {
        var started = StartedDevices(kept.playing)
        started.update(outputs.all, isPlaying: board.transport.isPlaying)
        keep { $0.playing = started.ids.sorted() }
    }

    /// Keeps that all devices have been stopped.
    ///
    /// - Returns: the state to keep.
    mutating func stopped() -> KeptState {
        kept.playing = []
        return kept
    }

    private mutating func keep(_ kind: WriteSchedule.Change, _ change: (inout KeptState) -> Void) {
        let before = kept
        change(&kept)
        guard kept != before else { return }
        effects.kept = (kept, effects.kept?.change == .setting ? .setting : kind)
    }
}
