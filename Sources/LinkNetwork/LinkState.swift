package import BeatTime
public import LinkSession

/// The state of a Link peer at one moment.
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
    /// Whether the user has enabled Link.
    public var isEnabled: Bool
    /// Whether the program currently needs Link; if not, even an enabled peer stays off the network.
    public var isActive: Bool
    /// How often ``LinkPeer/setEnabled(_:whenDone:)`` has been carried out.
    ///
    /// A caller that counts its calls can tell whether one is still pending.
    public var switchings: UInt64
    /// How often ``LinkPeer/edit(_:whenDone:)`` has been carried out.
    public var edits: UInt64
    /// Whether play and stop are shared.
    public var isStartStopSyncEnabled: Bool
    /// Number of other peers in the same session.
    public var peerCount: Int
    /// Whether the last of them has gone without a good-bye, or with the network, and none has come since.
    package var hasLostPeers = false
    /// The session's ID, which is the node ID of the peer that founded it.
    public var sessionID: NodeID
    /// The local addresses in use.
    public var interfaces: [String]
    /// Why interfaces cannot be used, one line each.
    public var failures: [String]
    /// Local addresses that are not in use because there are too many, one line each.
    public var leftOut: [String]
    /// Datagrams refused since the start: malformed ones, and those for which the peer tables had no room.
    public var refusedDatagrams: Int
    /// The address that announces more peers or sessions than the tables hold; nil while there is room.
    ///
    /// If several do, it is the first whose entries were dropped, or "many addresses". The value stays for 30 s after
    /// the last entry was dropped.
    public var crowdingAddress: String?
    /// Peers that are heard but cannot be measured, or cannot measure this peer; nil if there are none.
    package var unreachable: Unreachable?
    /// The address that announces numbers in our session that no program comes to by itself; nil if none does.
    ///
    /// These are beats and times nine years away or more, and starts and stops stamped more than a minute ahead. All peers
    /// take and repeat them, so it is the first from which they were heard. The value stays for 30 s after the last.
    public var extremeNumbersAddress: String?
    /// Greatest possible error of the measured session clock, in microseconds; nil in a session founded here.
    ///
    /// Half of the least time there and back belongs to it, because nobody can see how it is divided between the two. What
    /// a measured peer that is not the session's founder errs by itself is not included. It grows while nothing can be
    /// measured.
    public var measurementErrorMicroseconds: Double?
    /// Sum of all corrections to the session's clock since the start, in microseconds; positive is later.
    ///
    /// The difference between two readings is how far measurements have moved the timeline in between. Changes made by
    /// peers are not included.
    public var clockSteps: Int64
    /// Who changed what, at most the last 32 changes, in order.
    package var changes: [DatedChange] = []

    /// Whether the peer is on the network: true if it is enabled and active.
    public var isNetworking: Bool { isEnabled && isActive }
    /// Whether there is at least one other peer in the session.
    public var isConnected: Bool { peerCount > 0 }
    /// The local addresses that lead out of this machine.
    package var networks: [String] { interfaces.filter { !$0.hasPrefix("127.") } }
}

extension LinkState {
    /// The state of an engine, with the socket failures that its thread knows of.
    ///
    /// - Parameters:
    ///   - engine: the engine.
    ///   - now: the present time.
    ///   - failures: why interfaces cannot be used, one line each.
    ///   - leftOut: addresses that are too many, one line each.
    ///   - changes: the engine's changes with their times of day.
    package init(
        _ engine: Engine, at now: HostTime, failures: [String] = [], leftOut: [String] = [], changes: [DatedChange] = []
    ) {
        self.init(
            sessionState: engine.sessionState, isEnabled: engine.isEnabled, isActive: engine.isActive,
            switchings: engine.switchings, edits: engine.edits,
            isStartStopSyncEnabled: engine.isStartStopSyncEnabled, peerCount: engine.peerCount,
            hasLostPeers: engine.hasLostPeers, sessionID: engine.sessionID,
            interfaces: engine.interfaceAddresses.map(\.description),
            failures: failures, leftOut: leftOut, refusedDatagrams: engine.refusedDatagrams,
            crowdingAddress: engine.crowd.map { $0.source?.description ?? "many addresses" },
            unreachable: engine.unreachable, extremeNumbersAddress: engine.extreme?.source.description,
            measurementErrorMicroseconds: engine.measurementErrorMicroseconds(at: now), clockSteps: engine.clockSteps,
            changes: changes)
    }
}
