internal import Arbiter
internal import BeatTime
internal import ClockDispatch
internal import MIDIClock

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
        started.update(outputs.all, board, account)
        outputs.leftPlaying = started.ids
        let ids = started.ids.sorted()
        keep { $0.playing = ids }
    }

    /// Takes note that the run has ended.
    ///
    /// - Parameter account: the clock thread's last.
    /// - Returns: what the next run is to find, so that it brings devices in step that have not taken their last Stop;
    ///   nil if that is kept already.
    mutating func ended(_ account: ClockAccount) -> KeptState? {
        let before = kept
        started.end(outputs.all, account)
        kept.playing = started.ids.sorted()
        return kept == before ? nil : kept
    }

    private mutating func keep(_ kind: WriteSchedule.Change, _ change: (inout KeptState) -> Void) {
        let before = kept
        change(&kept)
        guard kept != before else { return }
        effects.kept = (kept, effects.kept?.change == .setting ? .setting : kind)
    }
}
