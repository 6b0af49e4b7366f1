internal import Arbiter
internal import BeatTime
internal import ClockDispatch
internal import MIDIClock

// State saved for the next run.
extension GatewayEngine {
    /// Saves a change by the user.
    mutating func keep(_ change: (inout KeptState) -> Void) { keep(.setting, change) }

    /// Saves what was set at outputs.
    mutating func keepSettings() {
        outputs.keepSettings()
        let settings = outputs.kept
        keep { $0.outputs = settings }
    }

    /// Saves the current tempo, whoever set it.
    ///
    /// A tempo that the user has just set is saved already; it must not be replaced by the one before it.
    mutating func keepTempo() {
        guard !arbiter.awaitsEdit else { return }
        let tempo = KeptState.rounded(arbiter.timeline.tempo)
        keep(.drift) { $0.tempo = tempo }
    }

    /// Saves which devices play, and whether the song does.
    mutating func keepStarted() {
        started.update(outputs.all, board, report)
        outputs.leftPlaying = started.ids
        let (ids, isInSong) = (started.ids.sorted(), arbiter.transport.isPlaying)
        keep { ($0.playing, $0.isInSong) = (ids, isInSong) }
    }

    /// Notes the end of the run.
    ///
    /// - Parameter report: the output thread's last report.
    /// - Returns: the state to save, so that the next run can stop devices that have not accepted their last Stop; nil
    ///   if it is already saved.
    mutating func ended(_ report: OutputReport) -> KeptState? {
        let before = kept
        started.end(outputs.all, report)
        (kept.playing, kept.isInSong) = (started.ids.sorted(), false)
        return kept == before ? nil : kept
    }

    private mutating func keep(_ kind: WriteSchedule.Change, _ change: (inout KeptState) -> Void) {
        let before = kept
        change(&kept)
        guard kept != before else { return }
        effects.kept = (kept, effects.kept?.change == .setting ? .setting : kind)
    }
}
