internal import NIOCore
internal import Synchronization

/// The open connections: if there are too many, one that lets us wait has to go for the next.
///
/// So connections that say nothing keep nobody out, however many there are: each newcomer drives out the oldest that
/// has not said what it wants, and whoever comes to ask is answered.
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
        /// Whether its request is complete and is being answered.
        var isBeingAnswered = false
    }

    /// How many there may be.
    static let most = 128

    /// - Parameter most: how many there may be.
    init(most: Int = Connections.most) { self.most = most }

    /// Takes in a new connection, perhaps at the cost of another.
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

    /// Notes who lets whom wait on a connection.
    func note(_ channel: any Channel, isBeingAnswered: Bool) {
        table.withLock { $0.open[ObjectIdentifier(channel)]?.isBeingAnswered = isBeingAnswered }
    }

    func closed(_ channel: any Channel) { table.withLock { $0.open[ObjectIdentifier(channel)] = nil } }
}
