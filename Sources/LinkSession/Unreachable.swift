import BeatTime

/// Peers that are heard, but with whom no measurement succeeds: the network carries multicast, and not what is sent to one
/// machine alone.
package struct Unreachable: Hashable, Sendable {
    /// Where they announce themselves; the one that was asked last, or one of them.
    package var address: IPAddress
    package var direction: Direction

    package enum Direction: Sendable {
        /// They do not answer our pings.
        case theyDoNotAnswer
        /// They answer, but stay in a younger session, as peers do that get no answer from us.
        case theyDoNotJoin
    }
}

/// The sessions of which nobody answers, as far as they were tried lately.
struct UnansweredSessions: Sendable {
    private struct Entry {
        let session: NodeID
        var address: IPAddress
        let since: HostTime
        var last: HostTime
    }

    private var entries: [Entry] = []

    /// From the first to the last try before it is told, in microseconds; some datagrams are always lost.
    static let patience: Int64 = 3_000_000
    /// How long after the last try it is told, in microseconds.
    private static let memory: Int64 = 5_000_000
    /// Most sessions remembered; others may invent any number.
    private static let most = 8

    /// Notes that a peer was heard while it answered no ping.
    mutating func note(_ session: NodeID, at address: IPAddress, _ now: HostTime) {
        forget(at: now)
        if let index = entries.firstIndex(where: { $0.session == session }) {
            // People know the address of IPv4, which sorts first.
            (entries[index].address, entries[index].last) = (min(entries[index].address, address), now)
        } else if entries.count < Self.most {
            entries.append(Entry(session: session, address: address, since: now, last: now))
        }
    }

    /// Notes that a session was measured.
    mutating func answered(_ session: NodeID) {
        if !entries.isEmpty { entries.removeAll { $0.session == session } }
    }

    /// Where nobody has answered for too long; nil if there is no such session.
    mutating func told(at now: HostTime) -> IPAddress? {
        forget(at: now)
        return entries.first { $0.since.microseconds(to: $0.last) >= Self.patience }?.address
    }

    private mutating func forget(at now: HostTime) {
        entries.removeAll { $0.last.microseconds(to: now) > Self.memory }
    }
}

extension Engine {
    /// How long the members of a younger session may take to join ours, in microseconds.
    private static let timeToBeJoined: Int64 = 10_000_000

    /// Works out which peers cannot be reached.
    mutating func judgeReach(at now: HostTime) {
        if let address = unanswered.told(at: now) {
            unreachable = Unreachable(address: address, direction: .theyDoNotAnswer)
            return
        }
        let apart = Set(
            knownSessions.lazy.filter { $0.isRejected && $0.since.microseconds(to: now) >= Self.timeToBeJoined }.map(
                \.id))
        let stubborn = apart.isEmpty ? nil : peers.records.first { apart.contains($0.announcement.session) }
        unreachable = stubborn.map { Unreachable(address: $0.source, direction: .theyDoNotJoin) }
    }

    /// Notes that a measurement has failed, if its peer was heard meanwhile and yet did not answer.
    mutating func noteSilence(_ measurement: Measurement, at now: HostTime) {
        guard !measurement.isAnswered, let record = peers[measurement.peer], record.heardAt > measurement.start else {
            return
        }
        unanswered.note(measurement.session, at: record.source, now)
    }
}
