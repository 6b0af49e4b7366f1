internal import ConfigurationFiles
internal import RealTime
internal import Synchronization

/// Reads the configuration for reloads, one after another, on a thread of its own, because a disk may hang.
final class Reloading: Sendable {
    private let exchange: GatewayExchange
    private let read: @Sendable () throws(Mistakes) -> LiveConfiguration
    /// Who waits for a reload; the thread runs while there are any.
    private let waiting = Mutex<[GatewayExchange.Reply]>([])
    private let thread = Mutex<RealTimeThread?>(nil)

    /// Most reloads that wait.
    private static let most = 16

    init(_ exchange: GatewayExchange, read: @escaping @Sendable () throws(Mistakes) -> LiveConfiguration) {
        self.exchange = exchange
        self.read = read
    }

    /// Reads and applies the configuration; any thread, which does not wait.
    ///
    /// - Parameter reply: receives the result.
    func add(_ reply: @escaping GatewayExchange.Reply) {
        let place = waiting.withLock { waiting -> Int? in
            guard waiting.count < Self.most else { return nil }
            waiting.append(reply)
            return waiting.count
        }
        guard let place else { return reply(.failure(.busy)) }
        guard place == 1 else { return }
        thread.withLock { thread in
            thread?.join()
            thread = try? RealTimeThread(name: "tactus-reload", priority: 0, stackSize: 4 << 20) { [self] in run() }
            if thread == nil { refuseAll() }
        }
    }

    private func refuseAll() {
        let refused = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for reply in refused { reply(.failure(.busy)) }
    }

    private func run() {
        while let reply = waiting.withLock(\.first) {
            do throws(Mistakes) {
                exchange.post(.configure(try read()), reply: reply)
            } catch {
                reply(.failure(.badConfiguration(error.lines)))
            }
            let isLast = waiting.withLock { waiting in
                waiting.removeFirst()
                return waiting.isEmpty
            }
            if isLast { return }
        }
    }
}
