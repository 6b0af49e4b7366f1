import Essentials
import HTTPTypes
import Listening
import Testing

/// The routes of calibrating by listening, with a sound card that hears only silence.
@Suite(.timeLimit(.minutes(30)))
struct ListeningRouteTests {
    private static let open = "/api/v1/outputs/drums/listening"

    private static func report(_ answer: ServedGateway.Answer) throws -> ListeningReport {
        try JSON.value(ListeningReport.self, from: answer.body.utf8)
    }

    /// Asks until it stands as wanted.
    private static func report(
        _ id: String, _ client: ServedGateway.Client, until isWanted: (ListeningReport) -> Bool
    ) async throws -> ListeningReport {
        while true {
            let report = try report(try await client.get("/api/v1/listening/\(id)"))
            if isWanted(report) { return report }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    @Test
    func `a card shows its level until it is told to measure or to end`() async throws {
        try await ServedGateway().serve { client in
            let opened = try Self.report(try await client.post(Self.open, #"{"device":"hw:1","channel":3}"#))
            #expect(opened.name == "Drums" && opened.channel == 3 && !opened.state.isLast)
            #expect(opened.inputLatencyMilliseconds == nil)
            let level = try await Self.report(opened.id, client) { $0.state == .level && $0.level != nil }
            #expect(level.level?.decibels == nil && level.beatsNeeded == 80)
            let second = try await client.post(Self.open, #"{"device":"hw:1"}"#)
            #expect(second.status == 409 && second.body.contains("another calibration is running; end it first"))
            let ended = try Self.report(try await client.send(.delete, "/api/v1/listening/\(opened.id)"))
            #expect(ended.state == .failed && ended.problem?.kind == .cancelled)
            let save = try await client.post("/api/v1/listening/\(opened.id)/save", "")
            #expect(save.status == 409 && save.body.contains("there is no result to save"))
            let third = try Self.report(
                try await client.post(Self.open, #"{"device":"hw:1","inputLatencyMilliseconds":0}"#))
            #expect(third.id != opened.id && third.inputLatencyMilliseconds == 0)
            let stale = try await client.get("/api/v1/listening/\(opened.id)")
            #expect(stale.status == 409 && stale.body.contains("this calibration is over"))
        }
    }

    @Test
    func `whoever tries to begin another does not keep one alive that nobody watches`() async throws {
        try await ServedGateway(lease: .milliseconds(200)).serve { client in
            let left = try Self.report(try await client.post(Self.open, #"{"device":"hw:1"}"#))
            var next: ServedGateway.Answer
            repeat {
                try await Task.sleep(for: .milliseconds(10))
                next = try await client.post(Self.open, #"{"device":"hw:1"}"#)
            } while next.status == 409
            #expect(try Self.report(next).id != left.id)
        }
    }

    @Test
    func `the gateway ends while a sound card hangs`() async throws {
        try await ServedGateway().serve { client in
            let opened = try Self.report(try await client.post(Self.open, #"{"device":"hw:9"}"#))
            _ = try await Self.report(opened.id, client) { $0.state == .level }
        }
    }

    @Test
    func `what cannot be listened to is told with what to do`() async throws {
        try await ServedGateway().serve { client in
            let opened = try Self.report(try await client.post(Self.open, #"{"device":"hw:77"}"#))
            let failed = try await Self.report(opened.id, client) { $0.state.isLast }
            #expect(failed.problem?.message.contains("'arecord -l' lists inputs") == true)
            for (body, told) in [
                (#"{"device":"tee:hw:1,/tmp/x"}"#, "name a sound card"), (#"{"device":"hw:1","channel":0}"#, "channel"),
                (#"{"device":"hw:1","against":1}"#, "compare two different ones"), ("{}", "device: a text"),
                (#"{"device":"hw:1","inputLatencyMilliseconds":501}"#, "0 to 500"),
            ] {
                let answer = try await client.post(Self.open, body)
                #expect(answer.status == 400 && answer.body.contains(told), "\(answer.body)")
            }
            let elsewhere = try await client.post("/api/v1/outputs/none/listening", #"{"device":"hw:1"}"#)
            #expect(elsewhere.status == 404 && elsewhere.body.contains("no-such-output"))
            let byName = try Self.report(try await client.post("/api/v1/outputs/DRU/listening", #"{"device":"hw:77"}"#))
            #expect(byName.output == "drums")
            let cards = try await client.get("/api/v1/sound-cards")
            #expect(cards.status == 200 && cards.body.hasPrefix("["))
            let wrong = try await client.send(.put, "/api/v1/listening/x")
            #expect(wrong.status == 405 && wrong.body.contains("this path has other methods: GET, HEAD, DELETE"))
        }
    }
}
