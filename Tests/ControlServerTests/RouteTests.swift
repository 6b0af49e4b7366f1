import Arbiter
import ControlServer
import Testing

@Suite
struct RouteTests {
    @Test
    func `the status has every key of the contract, and null for what is not there yet`() async throws {
        try await ServedGateway().serve { client in
            let answer = try await client.get("/api/v1/status")
            #expect(answer.status == 200)
            let object = answer.object
            #expect(
                object.keys.sorted() == [
                    "beat", "follower", "link", "mode", "outputs", "phase", "playing", "quantum", "realtime", "reason",
                    "startsInBeats", "tempo", "transport", "version", "warnings",
                ])
            let link = try #require(object["link"] as? [String: Any])
            #expect(
                link.keys.sorted() == [
                    "active", "connected", "enabled", "interfaces", "measurementErrorMicroseconds", "peers",
                    "sessionId",
                    "startStopSync",
                ])
            #expect(answer.body.contains(#""sessionId":null"#))
            #expect(answer.body.contains(#""mode":"internal""#))
        }
    }

    @Test
    func `a command answers with the status it led to`() async throws {
        try await ServedGateway().serve { client in
            func status(after path: String, _ body: String) async throws -> Status {
                try await client.post("/api/v1/\(path)", body).gatewayStatus()
            }
            let faster = try await status(after: "tempo", #"{"bpm":128.5}"#)
            #expect(faster.tempo == 128.5)
            let playing = try await status(after: "transport", #"{"playing":true}"#)
            #expect(playing.playing)
            let stopped = try await status(after: "transport", #"{"playing":false}"#)
            #expect(stopped.playing == false)
            let alone = try await status(after: "link", #"{"enabled":false}"#)
            #expect(alone.link.enabled == false)
            let sharing = try await status(after: "start-stop-sync", #"{"enabled":true}"#)
            #expect(sharing.link.startStopSync)
            let keeping = try await status(after: "start-stop-sync", #"{"enabled":false}"#)
            #expect(keeping.link.startStopSync == false)
            #expect(keeping.tempo == 128.5)
        }
    }

    @Test(arguments: [
        ("tempo", "{bpm:1}", "the body is to be one JSON object with the key bpm"),
        ("tempo", "", "the body is to be one JSON object with the key bpm"),
        ("tempo", "[120]", "the body is to be one JSON object with the key bpm"),
        ("tempo", #"{"bpm":120} {}"#, "the body is to be one JSON object with the key bpm"),
        ("tempo", "{}", "bpm: 20 to 999"),
        ("tempo", #"{"bpm":19.999}"#, "bpm: 20 to 999"),
        ("tempo", #"{"bpm":999.001}"#, "bpm: 20 to 999"),
        ("tempo", #"{"bpm":1e999}"#, "bpm: 20 to 999"),
        ("tempo", #"{"bpm":"120"}"#, "bpm: 20 to 999"),
        ("tempo", #"{"bpm":true}"#, "bpm: 20 to 999"),
        ("tempo", #"{"bpm":null}"#, "bpm: 20 to 999"),
        ("tempo", #"{"bpm":120,"quantum":4}"#, "quantum: unknown; the key here is bpm"),
        ("link", #"{"enabled":1}"#, "enabled: true or false"),
        ("start-stop-sync", #"{"enabled":"on"}"#, "enabled: true or false"),
        ("transport", #"{"enabled":true}"#, "enabled: unknown; the key here is playing"),
    ])
    func `a wrong body is told what would be right`(path: String, body: String, message: String) async throws {
        try await ServedGateway().serve { client in
            let before = try await client.get("/api/v1/status").gatewayStatus()
            let answer = try await client.post("/api/v1/\(path)", body)
            #expect(answer.status == 400)
            #expect((answer.object["error"] as? [String: String])?["message"] == message)
            let after = try await client.get("/api/v1/status").gatewayStatus()
            #expect(after.tempo == before.tempo)
            #expect(after.link == before.link)
            #expect(after.transport == before.transport)
        }
    }

    @Test
    func `what is not served says so in JSON`() async throws {
        try await ServedGateway().serve { client in
            func code(_ answer: ServedGateway.Answer) -> String? {
                (answer.object["error"] as? [String: String])?["code"]
            }
            let unknown = try await client.get("/api/v1/nonsense")
            #expect(unknown.status == 404)
            #expect(code(unknown) == "not-found")
            // A link or an image on a web page is a GET: it must not be able to stop the clock.
            let read = try await client.get("/api/v1/transport")
            #expect(read.status == 405)
            #expect(code(read) == "method-not-allowed")
            let write = try await client.post("/api/v1/status", "{}")
            #expect(write.status == 405)
            let large = try await client.post("/api/v1/tempo", String(repeating: " ", count: 65537))
            #expect(large.status == 413)
            #expect(code(large) == "too-large")
        }
    }

    @Test
    func `before there is a gateway the server says that it starts`() async throws {
        try await ServedGateway(isStarted: false).serve { client in
            let answer = try await client.get("/api/v1/status")
            #expect(answer.status == 503)
            #expect(answer.body == #"{"error":{"code":"starting","message":"the gateway is starting"}}"#)
        }
    }
}
