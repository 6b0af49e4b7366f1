internal import Arbiter
internal import BeatTime
internal import LinkNetwork
internal import LinkSession

extension LinkView {
    /// What the arbiter needs to know of the Link peer's state.
    init(_ state: LinkState) {
        self.init(
            state: state.sessionState, isEnabled: state.isEnabled, switchings: state.switchings, edits: state.edits,
            sessionID: state.sessionID, clockSteps: state.clockSteps)
    }
}
