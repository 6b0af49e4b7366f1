package import LinkSession

/// What the arbiter needs to know about the Link peer.
package struct LinkView: Sendable {
    package var state: SessionState
    package var isEnabled: Bool
    /// How often it has been switched on or off.
    package var switchings: UInt64
    /// How often its session has been edited.
    package var edits: UInt64
    package var sessionID: NodeID
    /// Sum of all corrections of the session's clock, in microseconds; positive is later.
    package var clockSteps: Int64

    package init(
        state: SessionState, isEnabled: Bool, switchings: UInt64, edits: UInt64, sessionID: NodeID, clockSteps: Int64
    ) {
        self.state = state
        self.isEnabled = isEnabled
        self.switchings = switchings
        self.edits = edits
        self.sessionID = sessionID
        self.clockSteps = clockSteps
    }
}
