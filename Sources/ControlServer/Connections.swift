internal import NIOCore
internal import Synchronization

/// The open connections; if there are too many, an idle one is closed for the next.
///
/// Idle connections therefore cannot lock anyone out. Each new connection closes the oldest one that has not sent a
/// complete request, and a client that asks is answered.
final class Connections: Sendable {
    private let most: Int
    private let table = Mutex(Table())

    private struct Table {
        var open: [ObjectIdentifier: Connection] = [:]
        var opened = 0
    }

    private struct Connection {
        let channel: any Channel
        let number: Int
        /// Whether its request is complete and being answered.
        var isBeingAnswered = false
    }

    /// Most connections.
    static let most = 128

    /// - Parameter most: most connections.
    init(most: Int = Connections.most) { self.most = most }

    /// Adds a connection, and closes another if there are too many.
    func opened(_ channel: any Channel) {
        let victim = table.withLock { table -> (any Channel)? in
            table.opened += 1
            table.open[ObjectIdentifier(channel)] = Connection(channel: channel, number: table.opened)
            guard table.open.count > most else { return nil }
            let waiting = table.open.values.filter { !$0.isBeingAnswered }
            guard let oldest = waiting.min(by: { $0.number < $1.number }) else { return nil }
            table.open[ObjectIdentifier(oldest.channel)] = nil
            return oldest.channel
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
