internal import NIOCore
internal import Synchronization

/// The open connections; if there are too many, one is closed for the next.
///
/// Idle connections therefore cannot lock anyone out. Each new connection closes the oldest one that has not sent a
/// complete request, and a client that asks is answered. Nor can one client that keeps its connections busy: if it has
/// more than a share, one of its own is closed.
final class Connections: Sendable {
    private let most: Int
    private let share: Int
    private let table = Mutex(Table())

    private struct Table {
        var open: [ObjectIdentifier: Connection] = [:]
        var opened = 0

        /// The connection to close for the newest one; nil if there is none.
        func victim(share: Int) -> Connection? {
            let counts = Dictionary(open.values.map { ($0.client, 1) }, uniquingKeysWith: +)
            let greediest = counts.max { $0.value < $1.value }.flatMap { $0.value > share ? $0.key : nil }
            let candidates = open.values.filter { greediest == nil || $0.client == greediest }
            let waiting = candidates.filter { !$0.isBeingAnswered }
            return (waiting.isEmpty ? candidates : waiting).min { $0.number < $1.number }
        }
    }

    private struct Connection {
        let channel: any Channel
        let client: ClientNetwork
        let number: Int
        /// Whether its request is complete and being answered.
        var isBeingAnswered = false
    }

    /// Most connections.
    static let most = 128
    /// Connections that a client may have even if there are too many.
    ///
    /// About what a browser with the panel, `tactus watch` and a program for metrics have together. They may
    /// have more, since only the client with the most loses any.
    static let share = 8

    /// - Parameters:
    ///   - most: most connections.
    ///   - share: connections that a client may have even if there are too many.
    init(most: Int = Connections.most, share: Int = Connections.share) { (self.most, self.share) = (most, share) }

    /// Adds a connection, and closes another if there are too many.
    func opened(_ channel: any Channel) {
        let victim = table.withLock { table -> (any Channel)? in
            table.opened += 1
            table.open[ObjectIdentifier(channel)] = Connection(
                channel: channel, client: ClientNetwork(channel.remoteAddress), number: table.opened)
            guard table.open.count > most, let victim = table.victim(share: share) else { return nil }
            table.open[ObjectIdentifier(victim.channel)] = nil
            return victim.channel
        }
        guard let victim else { return }
        victim.eventLoop.execute { victim.close(promise: nil) }
    }

    /// Notes whether a connection waits for its client or is being answered.
    func note(_ channel: any Channel, isBeingAnswered: Bool) {
        table.withLock { $0.open[ObjectIdentifier(channel)]?.isBeingAnswered = isBeingAnswered }
    }

    func closed(_ channel: any Channel) { table.withLock { $0.open[ObjectIdentifier(channel)] = nil } }
}
