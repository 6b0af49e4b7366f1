import ControlServer
import Foundation
import GatewayStatus
import HTTPTypes
import Testing

@Suite
struct RouteTests {
    @Test
    func `the status has every key of the contract, and null for missing values`() async throws {
        try await ServedGateway().serve { client in
            let answer = try await client.get("/api/v1/status")
            #expect(answer.status == 200)
            let object = answer.object
            #expect(
                object.keys.sorted() == [
                    "beat", "follower", "link", "mode", "outputs", "phase", "pid", "playing", "quantum", "realtime",
                    "reason",
                    "songBeats", "startsInBeats", "taps", "tempo", "transport", "undo", "version", "warnings",
                ])
            let link = try #require(object["link"] as? [String: Any])
            #expect(
                link.keys.sorted() == [
                    "active", "connected", "enabled", "interfaces", "lastChange", "measurementErrorMicroseconds",
                    "peers", "sessionId", "startStopSync",
                ])
            #expect(answer.body.contains(#""sessionId":null"#))
            #expect(answer.body.contains(#""mode":"internal""#))
        }
    }

    @Test
    func `a command answers with the resulting status`() async throws {
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

    @Test
    func `parallel steps of the tempo add up; it is doubled and halved, and the last change is undone`() async throws {
        try await ServedGateway().serve { client in
            func answer(_ path: String, _ body: String) async throws -> ServedGateway.Answer {
                try await client.post("/api/v1/\(path)", body)
            }
            let before = try await client.get("/api/v1/status")
            #expect(before.body.contains(#""undo":null"#))
            let steps = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<5 { group.addTask { try await answer("tempo", #"{"step":1}"#).status } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(steps == [200, 200, 200, 200, 200])
            #expect(try await client.get("/api/v1/status").gatewayStatus().tempo == 125)
            #expect(try await answer("tempo", #"{"scale":2}"#).gatewayStatus().tempo == 250)
            #expect(try await answer("tempo", #"{"scale":0.5}"#).gatewayStatus().tempo == 125)
            let far = try await answer("tempo", #"{"step":900}"#)
            #expect(far.status == 400)
            #expect((far.object["error"] as? [String: String])?["code"] == "out-of-range")
            let quantum = try await answer("quantum", #"{"beats":3}"#).gatewayStatus()
            #expect(quantum.undo == "quantum back to 4 beats")
            let undone = try await answer("undo", "").gatewayStatus()
            #expect(undone.quantum == 4 && undone.undo == "quantum back to 3 beats")
        }
    }

    @Test
    func `without a change an undo is refused`() async throws {
        try await ServedGateway().serve { client in
            let refused = try await client.post("/api/v1/undo", "{}")
            #expect(refused.status == 409)
            #expect(
                refused.object["error"] as? [String: String]
                    == ["code": "nothing-to-undo", "message": "there is nothing to undo"])
        }
    }

    @Test
    func `an offset is set and reset by the nudge route, for one output or all`() async throws {
        try await ServedGateway().serve { client in
            func offset(after body: String) async throws -> Double? {
                try await client.post("/api/v1/nudge", body).gatewayStatus().outputs.first?.offsetMilliseconds
            }
            let one = try await offset(after: #"{"set":-3.5,"output":"drums"}"#)
            let all = try await offset(after: #"{"set":12}"#)
            let reset = try await offset(after: #"{"reset":true,"output":"drums"}"#)
            #expect(one == -3.5 && all == 12 && reset == 0)
        }
    }

    @Test
    func `changes are listed with their origin, the newest also in the status`() async throws {
        try await ServedGateway().serve { client in
            #expect(try await client.get("/api/v1/changes").body == "[]")
            #expect(try await client.get("/api/v1/status").gatewayStatus().link.lastChange == nil)
            _ = try await client.post("/api/v1/tempo", #"{"bpm":128.5}"#)
            let status = try await client.post("/api/v1/transport", #"{"playing":true}"#).gatewayStatus()
            let answer = try await client.get("/api/v1/changes")
            let changes = try JSONDecoder().decode([Status.Change].self, from: Data(answer.body.utf8))
            #expect(changes.map(\.what) == [.tempo, .play])
            #expect(changes.map(\.value) == [128.5, nil])
            #expect(changes.allSatisfy { $0.origin == .here && !$0.probable && $0.followed })
            #expect(answer.body.contains(#""node":null"#))
            #expect(status.link.lastChange == changes.last)
            let age = try #require(changes.first?.date).timeIntervalSinceNow
            #expect(age > -300 && age < 1)
        }
    }

    @Test
    func `no peers are listed off the network`() async throws {
        try await ServedGateway().serve { client in
            let answer = try await client.get("/api/v1/peers")
            #expect(answer.status == 200 && answer.body == "[]")
        }
    }

    @Test
    func `the status names the clock to follow, and whether it is waited for`() async throws {
        try await ServedGateway().serve { client in
            let first = try await client.get("/api/v1/status").gatewayStatus().follower
            #expect(first.choice == "auto" && first.state == .waiting)
            for (source, state) in [("off", .off), ("TR-8S", .waiting), ("24:0", .waiting), ("auto", .waiting)]
                as [(String, Status.FollowerState)]
            {
                let follower = try await client.post("/api/v1/follow", #"{"source":"\#(source)"}"#).gatewayStatus()
                    .follower
                #expect(follower.choice == source && follower.state == state)
            }
        }
    }

    @Test
    func `taps set the tempo by the sender's clock`() async throws {
        try await ServedGateway().serve { client in
            let taps: [(milliseconds: Double, tempo: Double, counted: Int, wanted: Int)] = [
                (1_700_000_000_000, 120, 1, 3), (1_700_000_000_400, 120, 2, 3), (1_700_000_000_800, 150, 3, 3),
                (1e15, 150, 1, 3),
            ]
            #expect(try await client.get("/api/v1/status").body.contains(#""taps":null"#))
            for (milliseconds, tempo, counted, wanted) in taps {
                let answer = try await client.post("/api/v1/tap", #"{"milliseconds":\#(milliseconds)}"#)
                #expect(try answer.gatewayStatus().tempo == tempo)
                #expect(try answer.gatewayStatus().taps == Status.Taps(counted: counted, wanted: wanted))
            }
            let unclocked = try await client.post("/api/v1/tap", "")
            #expect(unclocked.status == 200)
            for body in [#"{"milliseconds":-1}"#, #"{"milliseconds":"now"}"#, #"{"bpm":120}"#, "[]"] {
                let answer = try await client.post("/api/v1/tap", body)
                #expect(answer.status == 400, "\(body)")
            }
        }
    }

    @Test
    func `the page, the ports, the metrics and the health are served`() async throws {
        try await ServedGateway().serve { client in
            let page = try await client.get("/")
            #expect(page.status == 200 && page.body.contains("<title>Tactus"))
            #expect(!["{nonce}", "{script}", "{ranges}"].contains { page.body.contains($0) })
            let ports = try await client.get("/api/v1/ports")
            #expect(ports.status == 200 && ports.body.hasPrefix("["))
            let metrics = try await client.get("/metrics")
            #expect(metrics.body.contains("\ntactus_tempo_beats_per_minute 120.0\n"))
            let health = try await client.get("/healthz")
            // Without real-time priority, on a busy machine, ticks may well be late.
            let isWell = health.status == 200 && health.body == #"{"status":"ok"}"#
            #expect(isWell || health.status == 503 && health.body.contains(#""code":"late""#))
        }
    }

    @Test
    func `a stream of events begins with the status and reports changes`() async throws {
        try await ServedGateway().serve { client in
            // Just after the start something else may change, too.
            let events = try await client.events(until: { $0.status.tempo == 133 }) {
                _ = try await client.post("/api/v1/tempo", #"{"bpm":133}"#)
            }
            #expect(events.first?.name == "status")
            #expect(events.first?.status.tempo == 120)
            #expect(events.last?.name == "change")
        }
    }

    @Test(arguments: [
        ("tempo", "{bpm:1}", "the body must be one JSON object with one of the keys bpm, step, scale"),
        ("tempo", "", "the body must be one JSON object with one of the keys bpm, step, scale"),
        ("tempo", "[120]", "the body must be one JSON object with one of the keys bpm, step, scale"),
        ("tempo", #"{"bpm":120} {}"#, "the body must be one JSON object with one of the keys bpm, step, scale"),
        ("tempo", "{}", "bpm: 20 to 999"),
        ("tempo", #"{"bpm":19.999}"#, "bpm: 20 to 999"),
        ("tempo", #"{"bpm":999.001}"#, "bpm: 20 to 999"),
        ("tempo", #"{"bpm":1e999}"#, "bpm: 20 to 999"),
        ("tempo", #"{"bpm":"120"}"#, "bpm: 20 to 999"),
        ("tempo", #"{"bpm":true}"#, "bpm: 20 to 999"),
        ("tempo", #"{"bpm":null}"#, "bpm: 20 to 999"),
        ("tempo", #"{"bpm":120,"quantum":4}"#, "quantum: unknown; the keys here are bpm, step, scale"),
        ("tempo", #"{"step":"+1"}"#, "step: -979 to 979"),
        ("tempo", #"{"step":980}"#, "step: -979 to 979"),
        ("tempo", #"{"scale":1.5}"#, "scale: 0.5 or 2"),
        ("tempo", #"{"scale":4}"#, "scale: 0.5 or 2"),
        ("tempo", #"{"bpm":120,"step":1}"#, "bpm, step: only one of these"),
        ("nudge", #"{"set":501}"#, "set: -500 to 500"),
        ("nudge", #"{"reset":false}"#, "reset: true"),
        ("nudge", #"{"set":1,"reset":true}"#, "set, reset: only one of these"),
        ("undo", #"{"times":2}"#, "times: unknown; this request takes no keys"),
        ("link", #"{"enabled":1}"#, "enabled: true or false"),
        ("start-stop-sync", #"{"enabled":"on"}"#, "enabled: true or false"),
        ("transport", #"{"enabled":true}"#, "enabled: unknown; the keys here are playing, countInBars"),
        ("follow", #"{"source":5}"#, "source: auto, off, or a port such as TR-8S"),
        ("follow", #"{}"#, "source: auto, off, or a port such as TR-8S"),
        (
            "follow", #"{"source":" "}"#,
            "source: the name is empty; use a name such as TR-8S, a number such as 24:0, auto or off"
        ),
        ("follow", #"{"source":"24:254"}"#, "source: a sequencer port is 0:0 to 191:253; 'tactus ports' lists them"),
        ("reload", "now", "the body must be one JSON object without keys, or empty"),
        ("reload", #"{"bpm":120}"#, "bpm: unknown; this request takes no keys"),
        ("tap", "now", "the body must be one JSON object with the key milliseconds"),
    ])
    func `a wrong body is answered with the correction`(path: String, body: String, message: String) async throws {
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
    func `an output's settings are adjusted live, key by key`() async throws {
        try await ServedGateway().serve { client in
            func output(after body: String) async throws -> Status.Output? {
                try await client.send(.patch, "/api/v1/outputs/drums", body: body).gatewayStatus().outputs.first
            }
            let early = try await output(after: #"{"offsetMilliseconds":-3.5}"#)
            #expect(early?.offsetMilliseconds == -3.5)
            let swung = try await output(after: #"{"multiply":2,"divide":3,"swing":57.5}"#)
            #expect(swung?.multiply == 2 && swung?.divide == 3 && swung?.swing == 57.5)
            #expect(swung?.offsetMilliseconds == -3.5)
            let same = try await output(after: "{}")
            #expect(same?.swing == 57.5)
        }
    }

    @Test
    func `realigning a device that is not connected is refused with the reason`() async throws {
        try await ServedGateway().serve { client in
            for name in ["drums", "%64rums", "DRUMS"] {
                let refused = try await client.post("/api/v1/outputs/\(name)/realign", "")
                #expect(refused.status == 409 && refused.body.contains("Drums is not connected"))
                #expect((refused.object["error"] as? [String: String])?["code"] == "not-connected")
            }
            let refused = try await client.post("/api/v1/realign", #"{"when":"now"}"#)
            #expect(refused.status == 409 && refused.body.contains("nothing is connected"))
            let wrong = try await client.post("/api/v1/realign", #"{"when":"soon"}"#)
            #expect(wrong.status == 400 && wrong.body.contains(#"when: \"bar\" or \"now\""#))
        }
    }

    @Test(arguments: [
        (#"{"offsetMilliseconds":-500.1}"#, "offsetMilliseconds: -500 to 500"),
        (#"{"multiply":1.5}"#, "multiply: a whole number from 1 to 16"),
        (#"{"divide":0}"#, "divide: a whole number from 1 to 96"),
        (#"{"divide":97,"multiply":2}"#, "divide: a whole number from 1 to 96"),
        (#"{"swing":76}"#, "swing: 50 to 75"),
        (#"{"swing":null}"#, "swing: 50 to 75"),
        (#"{"markSeconds":601}"#, "markSeconds: a whole number from 0 to 600"),
        (
            #"{"offset":1}"#,
            "offset: unknown; the keys here are offsetMilliseconds, multiply, divide, swing, range, enabled, markSeconds"
        ),
        (
            "[]",
            "the body must be one JSON object with any of the keys offsetMilliseconds, multiply, divide, swing, range, enabled, markSeconds"
        ),
    ])
    func `a wrong adjustment is answered with the correction and changes nothing`(
        body: String, message: String
    ) async throws {
        try await ServedGateway().serve { client in
            let answer = try await client.send(.patch, "/api/v1/outputs/drums", body: body)
            #expect(answer.status == 400)
            #expect((answer.object["error"] as? [String: String])?["message"] == message)
            let output = try await client.get("/api/v1/status").gatewayStatus().outputs.first
            #expect(output?.offsetMilliseconds == 0 && output?.multiply == 1 && output?.divide == 1)
        }
    }

    @Test
    func `for an unknown output the answer lists the existing ones`() async throws {
        try await ServedGateway().serve { client in
            for answer in [
                try await client.send(.patch, "/api/v1/outputs/durms", body: #"{"swing":60}"#),
                try await client.post("/api/v1/outputs/durms/realign", ""),
                try await client.post("/api/v1/nudge", #"{"milliseconds":1,"output":"durms"}"#),
            ] {
                #expect(answer.status == 404)
                let error = answer.object["error"] as? [String: String]
                #expect(error?["code"] == "no-such-output")
                #expect(error?["message"] == "no output is called durms; there are: drums; did you mean 'drums'?")
            }
        }
    }

    @Test
    func `an output may be named by a unique part of its name`() async throws {
        try await ServedGateway().serve { client in
            #expect(try await client.post("/api/v1/nudge", #"{"milliseconds":2,"output":"RUM"}"#).status == 200)
            let answer = try await client.send(.patch, "/api/v1/outputs/drum", body: #"{"swing":60}"#)
            let output = try #require(try answer.gatewayStatus().outputs.first)
            #expect(output.offsetMilliseconds == 2 && output.swing == 60)
        }
    }

    @Test
    func `a nudge past the end of the range is refused with what is possible and changes nothing`() async throws {
        try await ServedGateway().serve { client in
            _ = try await client.post("/api/v1/nudge", #"{"milliseconds":499.5}"#)
            let answer = try await client.post("/api/v1/nudge", #"{"milliseconds":0.6}"#)
            #expect(answer.status == 400)
            let error = answer.object["error"] as? [String: String]
            #expect(error?["code"] == "out-of-range")
            #expect(
                error?["message"]
                    == "nothing was moved: an offset is -500 to 500 ms, and Drums is at 499.5; a nudge can be -999.5 to 0.5 ms now"
            )
            #expect(try await client.get("/api/v1/status").gatewayStatus().outputs.first?.offsetMilliseconds == 499.5)
            #expect(try await client.post("/api/v1/nudge", #"{"milliseconds":0.5}"#).status == 200)
        }
    }

    @Test
    func `an unknown path, a wrong method and a too large body are answered in JSON`() async throws {
        try await ServedGateway().serve { client in
            func code(_ answer: ServedGateway.Answer) -> String? {
                (answer.object["error"] as? [String: String])?["code"]
            }
            let unknown = try await client.get("/api/v1/nonsense")
            #expect(unknown.status == 404)
            #expect(code(unknown) == "not-found")
            // A link or an image on a web page sends a GET, which must not be able to start or stop the machines.
            let read = try await client.get("/api/v1/transport")
            #expect(read.status == 405)
            #expect(code(read) == "method-not-allowed")
            let write = try await client.post("/api/v1/status", "{}")
            #expect(write.status == 405)
            #expect(code(write) == "method-not-allowed")
            let large = try await client.post("/api/v1/tempo", String(repeating: " ", count: 65537))
            #expect(large.status == 413)
            #expect(code(large) == "too-large")
        }
    }

    @Test
    func `before the gateway exists the server says that it is starting`() async throws {
        try await ServedGateway(isStarted: false).serve { client in
            let answer = try await client.get("/api/v1/status")
            #expect(answer.status == 503)
            #expect(answer.body == #"{"error":{"code":"starting","message":"the gateway is starting"}}"#)
        }
    }
}

extension Status.Change {
    /// When it was heard; nil if the text is no time.
    fileprivate var date: Date? {
        let format = ISO8601DateFormatter()
        format.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        return format.date(from: at)
    }
}
