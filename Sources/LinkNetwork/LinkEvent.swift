public import BeatTime
public import LinkSession

/// Something that happened to a Link peer.
///
/// ```swift
/// let peer = try LinkPeer(tempo: Tempo(beatsPerMinute: 120))
/// let events = peer.events
/// peer.setStartStopSync(true)
/// for await case .startStopSyncChanged(let isShared) in events {
///     assert(isShared)
///     break
/// }
/// ```
public enum LinkEvent: Hashable, Sendable {
    /// The session's tempo changed, here or through a peer.
    case tempoChanged(Tempo)
    /// The transport was started or stopped, here or by a peer.
    case startStopChanged(isPlaying: Bool)
    /// The number of other peers in the session changed.
    case peersChanged(count: Int)
    /// The first other peer was found, or the last one was lost.
    case connectedChanged(Bool)
    /// Link was enabled or disabled with ``LinkPeer/setEnabled(_:whenDone:)``.
    case enabledChanged(Bool)
    /// Sharing play and stop was switched on or off.
    case startStopSyncChanged(Bool)
    /// A commit or an edit made here was refused; nothing of it was made.
    case editRefused(EditRefusal)

    /// The events that lead from one state to the next, in the order in which they are reported.
    static func between(_ old: LinkState, _ new: LinkState) -> [LinkEvent] {
        var events: [LinkEvent] = []
        if old.isEnabled != new.isEnabled { events.append(.enabledChanged(new.isEnabled)) }
        if old.isStartStopSyncEnabled != new.isStartStopSyncEnabled {
            events.append(.startStopSyncChanged(new.isStartStopSyncEnabled))
        }
        let (before, after) = (old.sessionState, new.sessionState)
        if before.tempo != after.tempo { events.append(.tempoChanged(after.tempo)) }
        if before.isPlaying != after.isPlaying { events.append(.startStopChanged(isPlaying: after.isPlaying)) }
        if old.peerCount != new.peerCount { events.append(.peersChanged(count: new.peerCount)) }
        if old.isConnected != new.isConnected { events.append(.connectedChanged(new.isConnected)) }
        return events
    }
}
