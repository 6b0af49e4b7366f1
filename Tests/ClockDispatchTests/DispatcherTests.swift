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

    @Test(arguments: DispatchCase.all, [UInt64](1...6))
    func `whatever the stalls, each tick is sent once, or counted as skipped`(
        dispatchCase: DispatchCase, seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let stage = DispatchStage(dispatchCase, outputs: 2)
        stage.run(milliseconds: 100, isEnding: false)
        stage.wakeUpLatency = {
            Int.random(in: 0..<8, using: &random) > 0 ? 4_000 : .random(in: 0...300_000_000, using: &random)
        }
        stage.run(milliseconds: 5000, isEnding: false)
        stage.wakeUpLatency = { 4_000 }
        stage.run(milliseconds: 500)
        for slot in 0..<2 {
            let ticks = stage.messages(UInt8(slot)).filter { $0.message == .timingClock }
            // The first and the last tick are on time, so that their times tell their numbers.
            let numbers = try [ticks.first, ticks.last].map { tick in
                Int(try #require(stage.tick(of: tick, UInt8(slot))))
            }
            #expect(stage.ticksSkipped(slot: slot) > 0)
            #expect(ticks.count + stage.ticksSkipped(slot: slot) == numbers[1] - numbers[0] + 1)
        }
    }

    @Test(arguments: [UInt64](1...12))
    func `outputs with different offsets lose nothing, however late the thread wakes`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stage = stage(outputs: 6, beat: 400_001)
        for slot in 0..<6 { stage.board.slots[slot].settings.offset = .random(in: 0...9_000, using: &random) }
        let offsets = (0..<6).map { stage.board.slots[$0].settings.offset }
        stage.kernel.flight = [0, 40_000][Int(seed % 2)]
        stage.wakeUpLatency = {
            Int.random(in: 0..<4, using: &random) > 0 ? 4_000 : .random(in: 0...2_500_000, using: &random)
        }
        stage.run(milliseconds: 1000)
        for port in 0..<6 {
            let lateness = stage.lateness(UInt8(port)).map { $0 - offsets[port] }
            #expect(lateness.count >= stage.ticksDue(offset: offsets[port]))
            #expect(lateness.allSatisfy { (-82...400).contains($0) }, "\(lateness)")
        }
    }

    @Test
    func `a queue without room for all loses nothing`() {
        let stage = stage(Self.ordinary, outputs: 8, beat: 60_060)
        stage.kernel.room = 20
        stage.run(milliseconds: 1000)
        for port in 0..<UInt8(8) {
            #expect(stage.lateness(port).count >= stage.ticksDue())
            #expect(stage.lateness(port).allSatisfy { (-82...400).contains($0) }, "\(stage.lateness(port))")
        }
    }

    @Test
    func `if the kernel refuses to start the queue for a while, no tick is lost or late`() {
        let stage = stage(beat: 400_001)
        let start = stage.kernel.now
        // A change of the board is only the moment at which that begins and ends.
        stage.changes = [
            (start + 305_000_000, { _ in stage.kernel.refusesStart = true }),
            (start + 705_000_000, { _ in stage.kernel.refusesStart = false }),
        ]
        stage.run(milliseconds: 1000)
        #expect(stage.lateness().count >= stage.ticksDue())
        #expect(stage.lateness().allSatisfy { (0...6).contains($0) }, "\(stage.lateness())")
    }

    @Test(arguments: [UInt64](1...20))
    func `a thread that gets real-time scheduling, or loses it, changes the way without losing a tick`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stage = stage(outputs: 2, beat: 400_001)
        let start = stage.kernel.now
        let times = (0..<6).map { _ in start + .random(in: 50_000_000...900_000_000, using: &random) }.sorted()
        let ways = [Self.ordinary, Self.realTime, Self.direct, Self.realTime, Self.ordinary, Self.direct]
        stage.ways = zip(times, ways).map { (at: $0, way: $1) }
        stage.run(milliseconds: 1000)
        #expect(stage.ways.isEmpty)
        for port in [UInt8(0), 1] {
            #expect(stage.lateness(port).count >= stage.ticksDue())
            #expect(stage.lateness(port).allSatisfy { (-82...400).contains($0) }, "\(stage.lateness(port))")
        }
    }

    /// Beats in which something plays, so that ticks are in the queue at any time.
    private func playing(_ way: DispatchWay, outputs: Int = 1, startTick: Int64 = 1) -> DispatchStage {
        let stage = stage(way, outputs: outputs, beat: 400_001)
        stage.board.transport = PlannedTransport(isPlaying: true, startTick: startTick, ticksPerBar: 96)
        return stage
    }

    @Test(arguments: [realTime, ordinary, direct], [Int64](0...16))
    func `a Stop leaves at once, and what is in the queue after it`(way: DispatchWay, phase: Int64) throws {
        let stage = playing(way)
        let at = stage.kernel.now + 300_000_000 + phase * 1_000_000
        stage.changes = [(at, { $0.transport.isPlaying = false })]
        stage.run(milliseconds: 500)
        let stop = try #require(stage.messages().first { $0.message == .stop })
        #expect((0...50_000).contains(stop.time - at))
        #expect(stage.lateness().allSatisfy { (-82...400).contains($0) })
    }

    @Test(arguments: [realTime, ordinary], [Int64](0...40))
    func `a Stop never overtakes what starts the device`(way: DispatchWay, phase: Int64) {
        let stage = playing(way, startTick: 6)
        let at = stage.kernel.now + 60_000_000 + phase * 1_000_000
        stage.changes = [(at, { $0.transport.isPlaying = false })]
        stage.run(milliseconds: 500)
        let transport = stage.messages().map(\.message).filter { $0 != .timingClock }
        #expect(transport == [] || transport == [.start, .stop])
    }

    @Test(arguments: [realTime, ordinary, direct], [Int64](0...20))
    func `at the end a playing device is stopped, and nothing follows`(way: DispatchWay, phase: Int64) throws {
        let stage = playing(way)
        stage.changes = [
            (stage.kernel.now + (97 + phase) * 1_000_000, { $0.transport.isPlaying = false }),
            (
                stage.kernel.now + (98 + phase) * 1_000_000,
                { $0.transport = PlannedTransport(isPlaying: true, startTick: 7, ticksPerBar: 24) }
            ),
            (stage.kernel.now + (99 + phase) * 1_000_000, { $0.transport.isPlaying = false }),
        ]
        stage.run(milliseconds: 100 + phase)
        let end = try #require(stage.messages().last { $0.message != .timingClock })
        stage.kernel.spend(100_000_000)
        #expect(end.message == .stop)
        #expect(stage.messages().last { $0.message != .timingClock } == end)
    }

    @Test(arguments: [realTime, ordinary])
    func `a new board is in use once everything planned by the one before has left`(way: DispatchWay) {
        let stage = playing(way)
        var (asked, last): (Int64, Int64?) = (stage.kernel.now + 200_000_000, nil)
        stage.changes = [(asked, { $0.slots[0].sink = .idle })]
        stage.whenSettled = { last = stage.kernel.now }
        stage.run(milliseconds: 400, isEnding: false)
        let sent = stage.messages().last?.time ?? 0
        #expect(last.map { $0 >= sent && $0 < sent + 11_000_000 } == true)
        asked += 50_000_000
        #expect(sent < asked)
    }

    /// The later of them leave a cable no more time than the two bytes need.
    @Test(arguments: [realTime, ordinary], [Int64](4...8))
    func `while a followed song is stopped, a Start that comes with its tick still comes before it`(
        way: DispatchWay, phase: Int64
    ) throws {
        let stage = stage(way, beat: 400_001)
        stage.board.map.tolerance = 5_000
        let tick: Int64 = 40
        let due = stage.board.map.time(ofTick: tick).microseconds * 1_000 + stage.kernel.apart
        let at = due - phase * 100_000
        stage.changes = [
            (at, { $0.transport = PlannedTransport(isPlaying: true, startTick: tick, ticksPerBar: 96) })
        ]
        stage.run(milliseconds: 1000)
        let around = stage.messages().drop { $0.message != .start }.prefix(2)
        #expect(around.map(\.message) == [.start, .timingClock])
        #expect(around.last.map { abs($0.time - due) < 1_000_000 } == true)
        #expect(stage.lateness().allSatisfy { (-82...1_000).contains($0) }, "\(stage.lateness())")
    }

    @Test
    func `sixty-four outputs with as many offsets are handled together, some milliseconds of them at a time`() {
        let stage = stage(outputs: 64, beat: 500_000)
        stage.kernel.room = 600
        stage.kernel.delay = { 1_000 }
        for slot in 1..<64 {
            stage.board.slots[slot].settings.offset = Int64(slot) * 731 - 20_000
            stage.board.slots[slot].settings.multiply = [1, 1, 2, 1, 4][slot % 5]
            stage.board.slots[slot].settings.divide = [1, 1, 1, 3][slot % 4]
        }
        stage.run(milliseconds: 2000)
        #expect(stage.kernel.delivered.count > 9_000)
        #expect(stage.kernel.delivered.count { !$0.isQueued } < 40)
        #expect(stage.turns < 1_000)
        for slot in 0..<64 { #expect(stage.longestLateness(slot: slot) <= 82) }
    }

    @Test
    func `with more to send than time allows, the thread yields the processor now and then`() {
        let stage = stage(outputs: 64, beat: 60_060)
        for slot in 0..<64 { stage.board.slots[slot].settings.offset = Int64(slot) * 37 }
        stage.wakeUpLatency = { 0 }
        stage.kernel.delay = { 3_000 }
        stage.run(milliseconds: 100)
        // A kernel stops real-time threads that take 0.95 s of a second.
        #expect(stage.longestTurn < 10_000_000)
    }

    @Test(arguments: [realTime, ordinary, direct], [Int64(50_000), 120_000, 250_000, 700_000])
    func `on a machine that is much too slow ticks are late, but go on`(way: DispatchWay, callTime: Int64) {
        let stage = stage(way, outputs: 2)
        stage.kernel.delay = { callTime }
        stage.run(milliseconds: 3000)
        for slot in 0..<2 {
            #expect(stage.ticksCounted(slot: slot) + stage.ticksSkipped(slot: slot) >= stage.ticksDue() - 2)
            #expect(stage.ticksSkipped(slot: slot) < 10)
        }
    }
}
