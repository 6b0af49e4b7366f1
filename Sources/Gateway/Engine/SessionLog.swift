internal import BeatTime
internal import LinkNetwork
internal import LinkSession
internal import Logging

/// Writes one log line for each change that others make to the session.
///
/// A tempo is logged once it rests, so that a turned knob is one line. What this gateway does is not logged here.
struct SessionLog: Sendable {
    /// The number of the last change taken.
    private var newest: UInt64
    /// A tempo that may still move on.
    private var moving: SessionChange?

    /// How long a tempo must rest to be logged, in microseconds.
    private static let rest: Int64 = 1_000_000

    /// Starts after the changes of a state.
    init(after state: LinkState) { newest = state.changes.last?.change.number ?? 0 }

    /// When ``takeRested(at:)`` has a line; nil if no tempo is moving.
    var deadline: HostTime? { moving?.at.advanced(byMicroseconds: Self.rest) }

    /// Takes the changes of a new state.
    ///
    /// - Parameter changes: in order, with those taken before.
    /// - Returns: the lines to write now.
    mutating func take(_ changes: [DatedChange]) -> [LogEntry] {
        var entries: [LogEntry] = []
        for change in changes.map(\.change) where change.number > newest {
            newest = change.number
            if let earlier = moving, !change.continues(earlier) { entries.append(LogEntry(earlier)) }
            moving = nil
            switch change.what {
            case _ where change.origin == .here: break
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
    /// A change of the session made by others.
    init(_ change: SessionChange) {
        var metadata: Logger.Metadata = [:]
        if case .peer(let teller) = change.origin {
            metadata = ["address": "\(teller.address)", "node": "\(teller.node)"]
        }
        let isKnown = change.origin != .unknown
        let text: Logger.Message
        switch change.what {
        case .tempo(let tempo):
            text =
                !isKnown
                ? "somebody changed the tempo"
                : change.isProbable ? "a peer probably changed the tempo" : "a peer changed the tempo"
            metadata["tempo"] = "\(tempo.beatsPerMinute)"
        case .play, .stop:
            let deed = change.what == .play ? "pressed play" : "pressed stop"
            let follows = change.isFollowed ? "" : "; it is not followed, because start/stop sync is off"
            let who = !isKnown ? "somebody" : change.isProbable ? "a peer probably" : "a peer"
            text = "\(who) \(deed)\(follows)"
        case .joined(let session, _, let from, let to):
            text = "joined an older session and took over its tempo"
            metadata["session"] = "\(session)"
            metadata["tempo"] = "\(to.beatsPerMinute)"
            metadata["tempo before"] = "\(from.beatsPerMinute)"
        }
        self.init(.notice, text, metadata)
    }
}
