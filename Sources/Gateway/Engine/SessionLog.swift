internal import BeatTime
internal import LinkNetwork
internal import LinkSession
internal import Logging

/// Writes one log line for each change of the session.
///
/// A tempo is logged once it rests, so that a turned knob is one line.
struct SessionLog: Sendable {
    /// The number of the last change taken.
    private var newest: UInt64
    /// A tempo that may still move on.
    private var moving: SessionChange?

    /// Starts after the changes of a state.
    init(after state: LinkState) { newest = state.changes.last?.change.number ?? 0 }

    /// When ``takeRested(at:)`` has a line; nil if no tempo is moving.
    var deadline: HostTime? { moving?.at.advanced(byMicroseconds: ChangeLog.knobPause) }

    /// Takes the changes of a new state.
    ///
    /// - Parameter changes: in order, with those taken before.
    /// - Returns: the lines to write now.
    mutating func take(_ changes: [DatedChange]) -> [LogEntry] {
        var entries: [LogEntry] = []
        for dated in changes where dated.change.number > newest {
            let change = dated.change
            newest = change.number
            if let earlier = moving, !change.continues(earlier) { entries.append(LogEntry(earlier)) }
            moving = nil
            switch change.what {
            case .tempo: moving = change
            case .play, .stop, .joined: entries.append(LogEntry(change))
            }
        }
        return entries
    }

    /// The line for a tempo that has rested long enough.
    mutating func takeRested(at now: HostTime) -> LogEntry? {
        guard let deadline, deadline <= now, let change = moving else { return nil }
        moving = nil
        return LogEntry(change)
    }
}

extension LogEntry {
    /// A change of the session.
    init(_ change: SessionChange) {
        var metadata: Logger.Metadata = [:]
        var who = "this gateway"
        if case .peer(let peer) = change.origin {
            metadata = ["address": "\(peer.address)", "node": "\(peer.node)"]
            who = change.isProbable ? "a peer probably" : "a peer"
        }
        let text: Logger.Message
        switch change.what {
        case .tempo(let tempo):
            text = "\(who) changed the tempo"
            metadata["tempo"] = "\(tempo.beatsPerMinute)"
        case .play, .stop:
            let follows = change.isFollowed ? "" : "; it is not followed, because start/stop sync is off"
            text = "\(who) pressed \(change.what == .play ? "play" : "stop")\(follows)"
        case .joined(let session, let from, let to):
            text = from == to ? "joined another session" : "joined another session and took over its tempo"
            metadata["session"] = "\(session)"
            metadata["tempo"] = "\(to.beatsPerMinute)"
            metadata["tempo before"] = "\(from.beatsPerMinute)"
        }
        self.init(change.origin == .here ? .info : .notice, text, metadata)
    }
}
