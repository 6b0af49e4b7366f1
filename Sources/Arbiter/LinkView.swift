public import LinkSession

/// What the arbiter needs to know of the Link peer.
public struct LinkView: Sendable {
    public var state: SessionState
    public var isEnabled: Bool
    /// How often it has been switched on or off.
    public var switchings: UInt64
    public var sessionID: NodeID
    /// By how much the session's clock has been corrected in all, in microseconds; positive is later.
    public var clockSteps: Int64

    public init(state: SessionState, isEnabled: Bool, switchings: UInt64, sessionID: NodeID, clockSteps: Int64) {
        self.state = state
        self.isEnabled = isEnabled
        self.switchings = switchings
        self.sessionID = sessionID
        self.clockSteps = clockSteps
    }
}
