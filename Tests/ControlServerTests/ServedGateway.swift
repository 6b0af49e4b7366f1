import Arbiter
import ControlServer
import Foundation
import Gateway
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import NIOPosix

/// A real gateway without Link, whose one output nobody hears, behind a real server on a port of its own.
struct ServedGateway {
    var address = HTTPAddress(host: "127.0.0.1", port: 0)!  // a literal address
    var token: BearerToken?
    /// Whether the gateway is there yet.
    var isStarted = true

    static let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs `body` with a client of the server, then stops server and gateway.
    func serve(_ body: @Sendable (Client) async throws -> Void) async throws {
        var configuration = GatewayConfiguration()
        configuration.isLinkEnabled = false
        configuration.wishes.outputs.hasClockPort = false
        configuration.wishes.outputs.outputs = [OutputRequest(.virtual("Drums"))]
        configuration.realtimePriority = 0
        let gateway = try Gateway(configuration, log: Self.log)
        let serving = Serving(isStarted ? gateway : nil)
        let application = ControlServer.application(at: address, token: token, serving: serving, log: Self.log)
        do {
            try await application.test(.ahc()) { try await body(Client(client: $0)) }
        } catch {
            await gateway.stop()
            throw error
        }
        await gateway.stop()
    }

    struct Client: Sendable {
        let client: any TestClientProtocol

        var port: Int { client.port ?? 0 }

        func get(_ path: String, headers: [String: String] = [:]) async throws -> Answer {
            try await send(.get, path, headers: headers)
        }

        func post(_ path: String, _ body: String, headers: [String: String] = [:]) async throws -> Answer {
            try await send(.post, path, body: body, headers: headers)
        }

        func send(
            _ method: HTTPRequest.Method, _ path: String, body: String? = nil, headers: [String: String] = [:]
        ) async throws -> Answer {
            var fields = HTTPFields()
            for (name, value) in headers { fields[.init(name)!] = value }  // names written here
            let response = try await client.execute(
                uri: path, method: method, headers: fields, body: body.map(ByteBuffer.init(string:)))
            return Answer(status: response.status.code, body: String(buffer: response.body))
        }

        /// The events of a stream up to one that is waited for; after the first something is done.
        func events(
            until isLast: @Sendable (Event) -> Bool, afterFirst body: @Sendable () async throws -> Void
        ) async throws -> [Event] {
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                    }
                }
            return try await channel.executeThenClose { inbound, outbound in
                let request = "GET /api/v1/events HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n"
                try await outbound.write(ByteBuffer(string: request))
                var (events, text): ([Event], String) = ([], "")
                for try await part in inbound {
                    text += String(buffer: part)
                    let known = events.count
                    events = text.matches(of: /event: (.*)\ndata: (.*)\n\n/).compactMap { match in
                        let status = try? JSONDecoder().decode(Status.self, from: Data(match.2.utf8))
                        return status.map { Event(name: String(match.1), status: $0) }
                    }
                    if events.contains(where: isLast) { break }
                    if known == 0, !events.isEmpty { try await body() }
                }
                return events
            }
        }
    }

    struct Event: Sendable {
        var name: String
        var status: Status
    }

    struct Answer: Sendable {
        var status: Int
        var body: String

        var object: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
        }

        func gatewayStatus() throws -> Status { try JSONDecoder().decode(Status.self, from: Data(body.utf8)) }
    }
}
