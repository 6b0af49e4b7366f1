import ALSASequencer
import AudioCapture
import ControlServer
import Foundation
import Gateway
import GatewayStatus
import HTTPTypes
import Listening
import OnsetDetection
import Logging
import PlainHTTP

/// A real gateway without Link and with one unconnected output, behind a real server on its own port.
struct ServedGateway {
    var address = HTTPAddress(host: "127.0.0.1", port: 0)!  // a literal address
    var token: BearerToken?
    /// How long a calibration goes on that nobody asks about; by default more patient than any machine is slow.
    var lease = Duration.seconds(300)
    /// Whether the gateway exists yet.
    var isStarted = true

    static let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs `body` with a client of the server, then stops server and gateway.
    func serve(_ body: (Client) async throws -> Void) async throws {
        var configuration = GatewayConfiguration()
        configuration.isLinkEnabled = false
        configuration.live.outputs.hasClockPort = false
        configuration.live.outputs.outputs = [OutputRequest(.virtual("Drums"))]
        configuration.realtimePriority = 0
        let gateway = try Gateway(configuration, log: Self.log)
        let outcome: Result<Void, any Error>
        do {
            let server = try await ControlServer.listening(at: address, token: token, log: Self.log)
            var limits = ListeningSession.Limits()
            (limits.lease, limits.silence, limits.opening) = (lease, .seconds(300), .seconds(300))
            let room = ListeningRoom(gateway, limits: limits, openCard: QuietCard.open) { _, _, _ in "drums.yaml" }
            if isStarted { server.serve(gateway, listening: room) }
            do {
                outcome = .success(try await body(Client(port: server.port)))
            } catch {
                outcome = .failure(error)
            }
            await room.stop()
            await server.stop()
        } catch {
            outcome = .failure(error)
        }
        await gateway.stop()
        try outcome.get()
    }

    struct Client: Sendable {
        let port: Int

        /// A timeout longer than any slow machine needs.
        private var client: HTTPClient { HTTPClient(host: "127.0.0.1", port: port, timeout: 300) }

        func get(_ path: String, headers: [String: String] = [:]) async throws -> Answer {
            try await send(.get, path, headers: headers)
        }

        func post(_ path: String, _ body: String, headers: [String: String] = [:]) async throws -> Answer {
            try await send(.post, path, body: body, headers: headers)
        }

        func send(
            _ method: HTTPRequest.Method, _ path: String, body: String? = nil, headers: [String: String] = [:]
        ) async throws -> Answer {
            var request = HTTPRequest(method: method, scheme: nil, authority: headers["Host"], path: path)
            for (name, value) in headers where name != "Host" {
                request.headerFields[.init(name)!] = value  // names written here
            }
            let answer = try await client.answer(to: request, body: body)
            return Answer(status: answer.status, headers: answer.headers, body: answer.body)
        }

        /// The events of a stream up to a given one; after the first event an action runs.
        func events(
            until isLast: (Event) -> Bool, afterFirst body: () async throws -> Void
        ) async throws -> [Event] {
            var (events, text): ([Event], String) = ([], "")
            let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/api/v1/events")
            try await client.stream(request) { _, bytes in
                text += String(decoding: bytes, as: UTF8.self)
                let known = events.count
                events = text.matches(of: /event: (.*)\ndata: (.*)\n\n/).compactMap { match in
                    let status = try? JSONDecoder().decode(Status.self, from: Data(match.2.utf8))
                    return status.map { Event(name: String(match.1), status: $0) }
                }
                if events.contains(where: isLast) { return false }
                if known == 0, !events.isEmpty { try await body() }
                return true
            }
            return events
        }
    }

    struct Event: Sendable {
        var name: String
        var status: Status
    }

    struct Answer: Sendable {
        var status: Int
        var headers: HTTPFields
        var body: String

        var object: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
        }

        func gatewayStatus() throws -> Status { try JSONDecoder().decode(Status.self, from: Data(body.utf8)) }
    }
}

/// A sound card that hears one moment of silence and no more; `hw:9` never closes, and any but these is missing.
private struct QuietCard: SoundInput {
    static let open: ListeningRoom.OpenCard = { (device, channels, receive) throws(ListeningProblem) in
        if ["hw:1", "hw:9"].contains(device) {
            receive(.opened(sampleRate: 48_000, isConverted: false))
            receive(.sound(SoundBlock(channels: channels.map { _ in [0, 0] }, stamp: nil)))
        } else {
            receive(.failed(.notOpened(ALSAError(operation: "snd_pcm_open", code: -2))))
        }
        return QuietCard(isClosed: device != "hw:9")
    }

    var isClosed: Bool
    func requestStop() {}
    func stop() { while !isClosed { sleep(1) } }
}
