internal import Arbiter
internal import BeatTime
internal import LinkNetwork
internal import LinkSession
internal import Logging

// What the Link peer says, for those who do not know it: the arbiter and the log.

extension LinkView {
    init(_ state: LinkState) {
        self.init(
            state: state.sessionState, isEnabled: state.isEnabled, switchings: state.switchings, edits: state.edits,
            sessionID: state.sessionID, clockSteps: state.clockSteps)
    }
}

extension Logger {
    /// Writes down what has changed between two states.
    func noteChange(from old: LinkState, to new: LinkState) {
        if old.isEnabled != new.isEnabled { notice(new.isEnabled ? "Link enabled" : "Link disabled") }
        if old.peerCount != new.peerCount { info("peers changed", metadata: ["count": "\(new.peerCount)"]) }
        if old.peerCount == 0, new.peerCount > 0 {
            notice(
                "session joined",
                metadata: ["session": "\(new.sessionID)", "tempo": "\(new.sessionState.tempo.beatsPerMinute)"])
        }
        for failure in new.failures where !old.failures.contains(failure) {
            warning("Link cannot use a network interface", metadata: ["error": "\(failure)"])
        }
        if old.peerCount > 0, new.peerCount == 0 { notice("no peers left, going on alone") }
    }
}
