internal import Essentials
package import Gateway
internal import Glibc
internal import Hummingbird
internal import HummingbirdCore
package import Listening
package import Logging
internal import NIOCore
package import RealTime
internal import ServiceLifecycle
internal import Synchronization

/// The HTTP server of a gateway: its status, and commands to it.
///
/// It starts before the gateway, so that a port in use is reported before anything is sent to a device. Until
/// ``serve(_:)`` it answers that the gateway is starting.
package final class ControlServer: Sendable {
    private let listener: Listener<Running>
    private let serving: Serving
    private let socket = Mutex<(running: Running, lock: ControlSocketLock)?>(nil)

    private struct Running: Sendable {
        let services: ServiceGroup
        let task: Task<Void, any Error>

        func stop() async {
            await services.triggerGracefulShutdown()
            _ = await task.result
        }
    }

    private init(_ listener: Listener<Running>, serving: Serving) {
        self.listener = listener
        self.serving = serving
    }

    /// Starts listening at an address, or waits for it if this machine does not have it yet.
    ///
    /// - Parameters:
    ///   - address: any but a loopback address should have a token.
    ///   - token: what every request must show, if anything.
    ///   - log: receives later problems.
    /// - Returns: the server, once connections are accepted, or the address is waited for.
    /// - Throws: when the address cannot be used, with the fix.
    package static func listening(
        at address: HTTPAddress, token: BearerToken?, log: Logger
    ) async throws(ListenError) -> ControlServer {
        let serving = Serving()
        var quieter = log
        quieter.logLevel = max(log.logLevel, .info)  // below are the libraries' own comings and goings
        let listener = try await Listener { [quieter] () async throws(ListenError) in
            do throws(SystemCallError) {
                return try await running(by: .network(address, token), serving: serving, log: quieter)
            } catch {
                throw ListenError(address, code: error.code, .tcp)
            }
        }
        return ControlServer(listener, serving: serving)
    }

    /// Lets commands of this computer in by a socket, too; until ``stop()``.
    ///
    /// - Throws: why not; with `EWOULDBLOCK`, because another run has it.
    package func listen(at socket: ControlSocket, log: Logger) async throws(SystemCallError) {
        var quieter = log
        quieter.logLevel = max(log.logLevel, .info)
        let lock = try ControlSocketLock(socket)
        let running = try await Self.running(by: .socket(socket), serving: serving, log: quieter)
        do throws(SystemCallError) {
            try socket.open()
        } catch {
            await running.stop()
            throw error
        }
        self.socket.withLock { $0 = (running, lock) }
    }

    private static func running(
        by entrance: Entrance, serving: Serving, log: Logger
    ) async throws(SystemCallError) -> Running {
        let (started, start) = AsyncStream<Void>.makeStream()
        let application = application(by: entrance, serving: serving, log: log) { start.yield() }
        let services = ServiceGroup(configuration: ServiceGroupConfiguration(services: [application], logger: log))
        let task = Task {
            defer { start.finish() }
            try await services.run()
        }
        for await _ in started { return Running(services: services, task: task) }
        switch await task.result {
        case .success: throw SystemCallError(operation: "listen", code: ECANCELED)
        case .failure(let error):
            throw SystemCallError(operation: "listen", code: (error as? IOError)?.errnoCode ?? EINVAL)
        }
    }

    /// Why it does not listen yet; nil once it does.
    package var trouble: ListenError? { listener.trouble }

    /// The port that was bound; 0 before.
    package var port: Int { serving.port }

    /// Most descriptors that a server opens: three for each of its threads, plus its connections.
    ///
    /// A connection closed for another one is still open for a moment.
    package static var descriptorsNeeded: Int {
        3 * System.coreCount + 1 + Connections.most + 16 + ListeningRoom.descriptorsNeeded
            + ControlSocket.descriptorsNeeded + ControlSocket.mostConnections
    }

    /// Sets the gateway that requests are about, and where it listens to its machines.
    package func serve(_ gateway: Gateway, listening: ListeningRoom) {
        serving.start(listening)
        serving.start(gateway)
    }

    /// Stops accepting requests, answers open ones, and closes all connections; takes at most 250 ms.
    package func stop() async {
        async let closed: Void? = listener.stop()?.stop()
        await socket.withLock(\.self)?.running.stop()
        socket.withLock { $0 = nil }
        await closed
    }

    /// The server as a value of the HTTP library.
    private static func application(
        by entrance: Entrance, serving: Serving, log: Logger, onListening: @escaping @Sendable () -> Void
    ) -> some ApplicationProtocol {
        let (address, connections): (BindAddress, Connections) =
            switch entrance {
            case .network(let address, _): (.hostname(address.host, port: address.port), Connections())
            case .socket(let socket):
                (.unixDomainSocket(path: socket.path), Connections(most: ControlSocket.mostConnections))
            }
        return Application(
            router: routes(by: entrance, serving: serving, log: log),
            server: HTTPServerBuilder { GuardedChannel($0, connections) },
            configuration: ApplicationConfiguration(address: address),
            onServerRunning: { channel in
                if case .network(let address, _) = entrance {
                    serving.bound(to: channel.localAddress?.port ?? address.port)
                }
                onListening()
            },
            logger: log)
    }
}

/// What requests are about, as far as it exists yet.
final class Serving: Sendable {
    private let gateway = Mutex<Gateway?>(nil)
    private let room = Mutex<ListeningRoom?>(nil)
    private let boundPort = Mutex(0)

    /// The port that was bound; 0 before.
    var port: Int { boundPort.withLock(\.self) }

    func bound(to port: Int) { boundPort.withLock { $0 = port } }

    func start(_ gateway: Gateway) { self.gateway.withLock { $0 = gateway } }

    func running() throws(RequestError) -> Gateway {
        guard let gateway = gateway.withLock(\.self) else { throw .starting }
        return gateway
    }

    /// Where the gateway listens to its machines.
    func start(_ room: ListeningRoom) { self.room.withLock { $0 = room } }

    func listening() throws(RequestError) -> ListeningRoom {
        guard let room = room.withLock(\.self) else { throw .starting }
        return room
    }
}
