public import LinkSession

/// What a Link peer knows and does, as one immutable picture.
///
/// ```swift
/// let peer = try LinkPeer(tempo: Tempo(beatsPerMinute: 120))
/// let state = peer.state
/// assert(!state.isNetworking)
/// assert(state.peerCount == 0)
/// ```
public struct LinkState: Hashable, Sendable {
    /// Timeline and transport, and whether there are peers.
    public var sessionState: SessionState
    /// The user's switch.
    public var isEnabled: Bool
    /// Whether the program has a use for Link; while it has none, an enabled peer stays off the network.
    public var isActive: Bool
    /// How often ``LinkPeer/setEnabled(_:whenDone:)`` has been carried out: whoever counts the calls knows whether one
    /// is still under way.
    public var switchings: UInt64
    /// How often ``LinkPeer/edit(_:whenDone:)`` has been carried out.
    public var edits: UInt64
    /// Whether play and stop are shared.
    public var isStartStopSyncEnabled: Bool
    /// Other peers in the same session.
    public var peerCount: Int
    /// The name of the session: that of the peer that founded it.
    public var sessionID: NodeID
    /// The local addresses in use.
    public var interfaces: [String]
    /// What keeps an interface from being used, one line each.
    public var failures: [String]
    /// Datagrams since the start that were no sound Link messages, or told of more than anyone should remember.
    public var refusedDatagrams: Int
    /// Who announces more peers or sessions than there is room for; nil while there is room for all.
    ///
    /// An address, of several the one that had to give way first, or "many addresses". It stays for 30 s after something
    /// last gave way.
    public var crowdingAddress: String?
    /// How far the session's clock, as it was measured, may well be from the truth; nil in a session founded here.
    public var measurementErrorMicroseconds: Double?
    /// By how much measurements have corrected the session's clock since the start, in microseconds; later is positive.
    ///
    /// A running total: the difference of two is the step that the timeline took between them, beside what peers did.
    public var clockSteps: Int64

    /// Whether the peer takes part on the network: when it is enabled and active.
    public var isNetworking: Bool { isEnabled && isActive }
    /// Whether there is at least one other peer in the session.
    public var isConnected: Bool { peerCount > 0 }
}

extension LinkState {
    /// What an engine knows; the thread that owns it adds what is wrong with the sockets.
    package init(_ engine: Engine, failures: [String] = []) {
        self.init(
            sessionState: engine.sessionState, isEnabled: engine.isEnabled, isActive: engine.isActive,
            switchings: engine.switchings, edits: engine.edits,
            isStartStopSyncEnabled: engine.isStartStopSyncEnabled, peerCount: engine.peerCount,
            sessionID: engine.sessionID, interfaces: engine.interfaceAddresses.map(\.description),
            failures: failures, refusedDatagrams: engine.refusedDatagrams,
            crowdingAddress: engine.crowd.map { $0.source?.description ?? "many addresses" },
            measurementErrorMicroseconds: engine.measurementErrorMicroseconds, clockSteps: engine.clockSteps)
    }
}
