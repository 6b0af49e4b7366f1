import Foundation
import GatewayStatus
import NIOCore
import Synchronization
import Testing

@testable import ControlServer

/// In virtual time: the feed is told the time.
@Suite
struct StatusFeedTests {
    private let source = Source()
    private let feed: StatusFeed
    private let begin = ContinuousClock.now

    init() {
        let source = source
        feed = StatusFeed(since: begin) { source.read() }
    }

    /// A status that tests change, with a count of its requests.
    private final class Source: Sendable {
        let state = Mutex((status: Status.example, readings: 0))

        func read() -> Status {
            state.withLock { state in
                state.readings += 1
                return state.status
            }
        }

        func change(_ body: (inout Status) -> Void) { state.withLock { body(&$0.status) } }
        var readings: Int { state.withLock { $0.readings } }
    }

    /// The name and the tempo of the event sent to a stream at a time.
    private func event(_ progress: inout StatusFeed.Progress, at milliseconds: Int) throws -> String? {
        guard let event = try feed.event(after: &progress, at: begin + .milliseconds(milliseconds)) else { return nil }
        let lines = String(buffer: event).split(separator: "\n", omittingEmptySubsequences: false)
        try #require(lines.count == 4 && lines[1].hasPrefix("data: ") && lines[2].isEmpty && lines[3].isEmpty)
        let status = try JSONDecoder().decode(Status.self, from: Data(lines[1].dropFirst(6).utf8))
        return "\(lines[0].dropFirst(7)) \(Int(status.tempo))"
    }

    @Test
    func `without changes a status is sent four times a second`() throws {
        var progress = StatusFeed.Progress()
        let names = try stride(from: 0, to: 1_000, by: 50).map { time in
            source.change { $0.beat += 0.1 }
            return try event(&progress, at: time)
        }
        #expect(names.compactMap(\.self) == Array(repeating: "status 120", count: 4))
        #expect(names[0] == "status 120")
    }

    @Test
    func `a change is sent at the next check, at most twenty times a second`() throws {
        var progress = StatusFeed.Progress()
        _ = try event(&progress, at: 0)
        var told: [String] = []
        for time in 1...1_000 {
            source.change { $0.tempo += 0.1 }
            if let name = try event(&progress, at: time) { told.append(name) }
        }
        #expect(told.count == 20 && told.allSatisfy { $0.hasPrefix("change") })
    }

    @Test
    func `a stream that was away gets only the newest status, and learns that something changed`() throws {
        var (slow, quick) = (StatusFeed.Progress(), StatusFeed.Progress())
        _ = try event(&slow, at: 0)
        for time in stride(from: 50, through: 5_000, by: 50) {
            if time < 1_000 { source.change { $0.tempo += 1 } }
            _ = try event(&quick, at: time)
        }
        #expect(try event(&slow, at: 5_001) == "change 139")
        #expect(try event(&slow, at: 5_050) == nil)
        #expect(try event(&quick, at: 5_050) == nil)
    }

    @Test
    func `however many streams there are, the status is read at most twenty times a second`() throws {
        var streams = Array(repeating: StatusFeed.Progress(), count: 50)
        for time in 0..<1_000 { _ = try event(&streams[time % 50], at: time) }
        #expect(source.readings <= 20)
    }

    @Test
    func `all streams are checked at the same moments`() {
        func next(after milliseconds: Double) -> Duration {
            feed.nextLook(after: begin + .seconds(milliseconds / 1_000)) - begin
        }
        #expect(next(after: 0) == .milliseconds(50) && next(after: 49.9) == .milliseconds(50))
        #expect(
            (1...10_000).allSatisfy {
                feed.nextLook(after: begin + .milliseconds(50 * $0)) - begin == .milliseconds(50 * ($0 + 1))
            })
    }

    @Test
    func `values that change by themselves are not changes`() {
        var moved = Status.example
        (moved.beat, moved.phase, moved.startsInBeats) = (7.5, 3.5, 2)
        moved.follower.jitterMicroseconds = 3
        moved.follower.refusedTicks = 9
        moved.outputs[0].ticks = 99
        moved.outputs[0].bend?.milliseconds = -9
        moved.outputs[0].latenessMicroseconds = .init(p50: 1, p99: 2, max: 3)
        moved.link.measurementErrorMicroseconds = 4
        #expect(moved.withoutMotion == Status.example.withoutMotion)
        for change: @Sendable (inout Status) -> Void in [
            { $0.tempo = 121 }, { $0.playing = true }, { $0.link.peers = 2 }, { $0.quantum = 3 },
            { $0.outputs[0].connected = false }, { $0.outputs[0].bend = nil }, { $0.outputs[0].offsetMilliseconds = 1 },
            { $0.warnings = [] },
            { $0.link.lastChange = Self.change(.peer) }, { $0.link.lastChange = Self.change(.here) },
        ] {
            var changed = Status.example
            change(&changed)
            #expect(changed.withoutMotion != Status.example.withoutMotion)
        }
    }

    private static func change(_ origin: Status.Change.Origin) -> Status.Change {
        .init(number: 1, what: .tempo, value: 120.1, origin: origin, at: "2026-11-23T17:05:00.250Z")
    }
}

extension Status {
    /// One output, one peer, one warning.
    static var example: Status {
        Status(
            version: "1", mode: .link, reason: "Link is enabled", tempo: 120, beat: 1, phase: 1, quantum: 4,
            playing: false, transport: .stopped, startsInBeats: nil,
            link: .init(
                enabled: true, active: true, connected: true, peers: 1, sessionId: "00", startStopSync: false,
                interfaces: [], measurementErrorMicroseconds: nil),
            follower: .init(state: .disabled),
            outputs: [
                .init(
                    id: "tr-8s", name: #"TR-8S "new\"#, profile: nil, port: "24:0", connected: true, enabled: true,
                    ticks: 7, lateTicks: 1, skippedTicks: 36, offsetMilliseconds: -2.5, multiply: 1, divide: 1,
                    swing: 50,
                    latenessMicroseconds: .init(
                        p50: 8, p99: 40, max: 9_000,
                        histogram: .init(counts: [3, 0, 2, 1] + Array(repeating: 0, count: 7) + [1], sum: 9_095)),
                    bend: .init(percent: 4, milliseconds: -7))
            ],
            realtime: .init(
                scheduling: "fifo", priority: 80, memoryLocked: true, dispatch: "queue",
                wakeUpLatencyMicroseconds: nil), warnings: [.init(code: "a", message: "b", fix: "c")])
    }
}
