import BeatTime
import MIDIClock
import RealTime
import Simulation
import Testing

@testable import ClockDispatch

/// What is in the queue is sent.
@Suite
struct DispatcherTests {
    private static let realTime = DispatchWay(mode: .queue)
    private static let ordinary = DispatchWay(mode: .queue, isRealTime: false)
    private static let direct = DispatchWay(mode: .direct)

    private func stage(_ way: DispatchWay = realTime, outputs: Int = 1, beat: Int64 = 448_765) -> DispatchStage {
        DispatchStage(way: way, outputs: outputs, microsecondsPerBeat: beat)
    }

    @Test(arguments: [Int64(200), 5_000])
    func `alone, the queue sends every tick right at its time`(callTime: Int64) {
        let stage = stage(outputs: 3)
        stage.kernel.delay = { callTime }
        stage.run(milliseconds: 2000)
        for port in 0..<3 {
            let lateness = stage.lateness(UInt8(port)).dropFirst(1)
            #expect(lateness.count >= stage.ticksDue() - 1)
            #expect(lateness.allSatisfy { (0...12).contains($0) }, "\(lateness)")
        }
        #expect(stage.kernel.delivered.dropFirst(3).allSatisfy { $0.isQueued })
    }

    @Test
    func `without a queue the thread sends every tick at its time`() {
        let stage = stage(Self.direct, outputs: 3)
        stage.run(milliseconds: 1000)
        for port in 0..<3 {
            #expect(stage.lateness(UInt8(port)).count >= stage.ticksDue())
            #expect(stage.lateness(UInt8(port)).allSatisfy { (0...5).contains($0) })
        }
    }

    @Test(arguments: [Int64(160_000), 1_000_000, 4_000_000, 10_000_000])
    func `beside another program's queue every tick leaves at most half a period off`(interval: Int64) {
        let stage = stage(outputs: 2, beat: 400_001)
        stage.kernel.runAnotherQueue(interval: interval)
        stage.run(milliseconds: 2000)
        for port in [UInt8(0), 1] {
            #expect(stage.lateness(port).count >= stage.ticksDue())
            #expect(stage.lateness(port).allSatisfy { (-82...82).contains($0) }, "\(stage.lateness(port))")
        }
    }

    @Test(arguments: [UInt64](1...10))
    func `a thread held up for 8 ms again and again delays at most the ticks of the first times`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stage = stage()
        stage.wakeUpLatency = {
            Int.random(in: 0..<5, using: &random) > 0 ? 4_000 : .random(in: 0...8_000_000, using: &random)
        }
        stage.run(milliseconds: 4000)
        #expect(stage.lateness().allSatisfy { (-82...8_100).contains($0) })
        #expect(stage.lateness().count { $0 > 1_000 } <= 3, "\(stage.lateness())")
    }

    @Test(arguments: [[8_000, 13_000], [0, 2_400, 2_920]])
    func `a line beside ports gets its ticks on time`(offsets: [Int64]) {
        for tempo: Int64 in 0..<8 {
            let stage = stage(outputs: offsets.count, beat: 400_000 + 480 * tempo)
            for (slot, offset) in offsets.enumerated() { stage.board.slots[slot].settings.offset = offset }
            stage.board.slots[offsets.count - 1].sink = .discard
            stage.run(milliseconds: 500)
            #expect(stage.longestLateness(slot: offsets.count - 1) <= 12)
        }
    }

    @Test(arguments: [16, 64], [UInt64](1...3))
    func `at 1000 BPM a thread held up for 3 ms delays no tick by more than 2 periods`(outputs: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stage = stage(outputs: outputs, beat: 60_000)
        stage.kernel.room = 600
        stage.kernel.delay = { 1000 }
        stage.wakeUpLatency = {
            Int.random(in: 0..<5, using: &random) > 0 ? 4_000 : .random(in: 0...3_000_000, using: &random)
        }
        stage.run(milliseconds: 4000)
        for port in 0..<UInt8(outputs) {
            let settled = stage.lateness(port).dropFirst(400)
            #expect(stage.lateness(port).count >= stage.ticksDue())
            #expect(settled.allSatisfy { (-82...400).contains($0) }, "\(port): \(settled.max()!) \(settled.min()!)")
        }
    }

    private static let delays: [Int64] = [300, 25_000, 170_000, 2_600_000]

    @Test(arguments: [Int64(0), 40_000], [nil, 160_000, 1_000_000] as [Int64?])
    func `whatever is delayed between any two calls, each tick is sent once`(flight: Int64, interval: Int64?) {
        for place in stride(from: 40, to: 280, by: 2) {
            for choice in 0..<16 {
                let stage = stage(outputs: 2, beat: 400_001)
                stage.kernel.flight = flight
                if let interval { stage.kernel.runAnotherQueue(interval: interval) }
                var call = 0
                stage.kernel.delay = {
                    call += 1
                    switch call {
                    case place: return Self.delays[choice & 3]
                    case place + 1: return Self.delays[choice >> 2]
                    default: return 5_000
                    }
                }
                stage.run(milliseconds: 90)
                for port in [UInt8(0), 1] {
                    let lateness = stage.lateness(port)
                    guard lateness.count >= 4, lateness.allSatisfy({ (-85...6_000).contains($0) }) else {
                        Issue.record("place \(place), choice \(choice): \(lateness)")
                        return
                    }
                }
            }
        }
    }

    @Test(arguments: [realTime, ordinary, direct], [UInt64](1...30))
    func `changes at any time neither lose nor double anything, and keep the order`(way: DispatchWay, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stage = stage(way, outputs: 2, beat: 400_001)
        if seed % 4 == 0 { stage.kernel.runAnotherQueue(interval: 1_000_000) }
        stage.kernel.flight = [0, 30_000][Int(seed / 4 % 2)]
        stage.kernel.delay = {
            Int.random(in: 0..<40, using: &random) == 0 ? .random(in: 0...300_000, using: &random) : 500
        }
        var at = stage.kernel.now
        var isPlaying = false
        for _ in 0..<12 {
            at += .random(in: 1_000_000...200_000_000, using: &random)
            isPlaying.toggle()
            let tick = stage.board.map.line.firstTick(
                atOrAfter: HostTime(microseconds: (at - stage.kernel.apart) / 1000))
            let transport = PlannedTransport(
                isPlaying: isPlaying, startTick: tick + .random(in: -8...3, using: &random), ticksPerBar: 96)
            stage.changes.append((at, { $0.transport = transport }))
        }
        stage.run(milliseconds: (at - stage.kernel.now) / 1_000_000 + 200)
        for port in [UInt8(0), 1] {
            #expect(stage.lateness(port).allSatisfy { (-82...2_000).contains($0) }, "\(stage.lateness(port))")
            let transport = stage.messages(port).map(\.message).filter { $0 != .timingClock }
            var isDevicePlaying = false
            for message in transport {
                switch message {
                case .start, .continue:
                    #expect(!isDevicePlaying, "\(transport)")
                    isDevicePlaying = true
                case .stop:
                    #expect(isDevicePlaying, "\(transport)")
                    isDevicePlaying = false
                default: break
                }
            }
            #expect(!isDevicePlaying, "the last change was a stop")
        }
        #expect(stage.kernel.delivered.contains { $0.message == .stop })
    }
}
