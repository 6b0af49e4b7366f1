import BeatTime
import MIDIClock
import RealTime
import Simulation
import Testing

@testable import ClockDispatch

@Suite
struct DispatcherTests {
    @Test(arguments: DispatchMode.allCases)
    func `on an idle machine every tick leaves once, within microseconds of its time`(mode: DispatchMode) {
        let stage = DispatchStage(mode: mode, outputs: 3)
        stage.run(milliseconds: 1000)
        for port in 0..<3 {
            #expect(stage.lateness(UInt8(port)).count >= stage.ticksDue())
            #expect(stage.lateness(UInt8(port)).allSatisfy { (0...5).contains($0) })
        }
        let queued = Double(stage.kernel.delivered.count { $0.isQueued }) / Double(stage.kernel.delivered.count)
        #expect(mode == .queue ? queued == 1 : queued == 0)
    }

    @Test(arguments: [UInt64](1...20))
    func `a thread that gets real-time scheduling, or loses it, changes the mode without losing a tick`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stage = DispatchStage(mode: .queue, outputs: 2, microsecondsPerBeat: 400_001)
        let start = stage.kernel.now
        let times = (0..<6).map { _ in start + .random(in: 50_000_000...900_000_000, using: &random) }.sorted()
        let modes: [DispatchMode] = [.backstop, .queue, .direct, .queue, .backstop, .direct]
        stage.ways = zip(times, modes).map { (at: $0, way: DispatchWay(mode: $1)) }
        stage.run(milliseconds: 1000)
        #expect(stage.ways.isEmpty)
        for port in 0..<2 {
            let lateness = stage.lateness(UInt8(port))
            #expect(lateness.count >= stage.ticksDue())
            #expect(lateness.allSatisfy { (0...400).contains($0) }, "\(lateness)")
        }
    }

    @Test(arguments: [UInt64](1...12))
    func `outputs that send shortly after one another lose nothing, whoever sends`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stage = DispatchStage(mode: .backstop, outputs: 6, microsecondsPerBeat: 400_001)
        for slot in 0..<6 { stage.board.slots[slot].settings.offset = .random(in: 0...2_000, using: &random) }
        let offsets = (0..<6).map { stage.board.slots[$0].settings.offset }
        stage.kernel.flight = [0, 40_000][Int(seed % 2)]
        stage.wakeUpLatency = {
            Int.random(in: 0..<4, using: &random) > 0 ? 4_000 : .random(in: 0...2_500_000, using: &random)
        }
        stage.run(milliseconds: 1000)
        for port in 0..<6 {
            let lateness = stage.lateness(UInt8(port)).map { $0 - offsets[port] }
            #expect(lateness.count >= stage.ticksDue(offset: offsets[port]))
            #expect(lateness.allSatisfy { (0...400).contains($0) }, "\(lateness)")
        }
        #expect(stage.kernel.delivered.contains { $0.isQueued } && stage.kernel.delivered.contains { !$0.isQueued })
    }

    @Test
    func `with more to send than time allows, the thread yields the processor now and then`() {
        let stage = DispatchStage(mode: .backstop, outputs: 64, microsecondsPerBeat: 60_060)
        for slot in 0..<64 { stage.board.slots[slot].settings.offset = Int64(slot) * 37 }
        stage.wakeUpLatency = { 0 }
        stage.kernel.delay = { 3_000 }
        stage.run(milliseconds: 100)
        // A kernel stops real-time threads that take 0.95 s of a second.
        #expect(stage.longestTurn < 10_000_000)
    }

    @Test(arguments: DispatchMode.allCases, [UInt64](1...8))
    func `whatever the stalls, each tick is sent once, or counted as skipped`(mode: DispatchMode, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let stage = DispatchStage(mode: mode, outputs: 2)
        stage.run(milliseconds: 100)
        stage.wakeUpLatency = {
            Int.random(in: 0..<8, using: &random) > 0 ? 4_000 : .random(in: 0...300_000_000, using: &random)
        }
        stage.run(milliseconds: 5000)
        stage.wakeUpLatency = { 4_000 }
        stage.run(milliseconds: 500)
        for slot in 0..<2 {
            let ticks = stage.messages(UInt8(slot)).filter { $0.message == .timingClock }
            // The first and the last tick are on time, so that their times tell their numbers.
            let numbers = try [ticks.first, ticks.last].map { tick in
                let time = (try #require(tick).time - stage.kernel.apart) / 1_000
                return Int(stage.board.map.line.nearestTick(to: HostTime(microseconds: time)))
            }
            #expect(stage.ticksSkipped(slot: slot) > 0)
            #expect(ticks.count + stage.ticksSkipped(slot: slot) == numbers[1] - numbers[0] + 1)
        }
    }

    @Test(arguments: [UInt64](1...20))
    func `a late wake-up does not delay a tick covered by the queue by more than a period`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stage = DispatchStage(
            mode: .backstop, outputs: 2, microsecondsPerBeat: .random(in: 200_000...900_000, using: &random))
        stage.wakeUpLatency = { Bool.random(using: &random) ? 4_000 : .random(in: 0...4_000_000, using: &random) }
        stage.run(milliseconds: 2000)
        for port in [UInt8(0), 1] {
            #expect(stage.lateness(port).allSatisfy { (0...200).contains($0) }, "\(stage.lateness(port))")
        }
        let expected = 1 + Int(2_000_000 - 2_000) * 24 / Int(stage.board.map.line.microsecondsPerBeat)
        #expect(abs(stage.lateness().count - expected) <= 1)
        #expect(stage.kernel.delivered.contains { $0.isQueued } && stage.kernel.delivered.contains { !$0.isQueued })
    }

    @Test(arguments: [UInt64](1...10))
    func `the thread learns to wake early enough for what it does before a tick`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stage = DispatchStage(mode: .backstop, microsecondsPerBeat: 400_001)
        stage.kernel.delay = { 2_000 }
        stage.wakeUpLatency = { .random(in: 0...60_000, using: &random) }
        stage.run(milliseconds: 4000)
        #expect(stage.lateness().count >= stage.ticksDue())
        #expect(stage.lateness().allSatisfy { (0...100).contains($0) }, "\(stage.lateness())")
        #expect(stage.kernel.delivered.contains { !$0.isQueued })
    }

    /// Delays of a call in nanoseconds: negligible, past the due time, past a queue period, past the next arming.
    private static let delays: [Int64] = [300, 25_000, 170_000, 2_600_000]

    /// Tries every combination of delays in two successive calls, at every second call during some ticks.
    ///
    /// - Parameters:
    ///   - milliseconds: the time before, and after, the first of these calls.
    ///   - places: the numbers of the calls.
    ///   - earliest: how late a tick may be at least, in microseconds.
    ///   - stage: makes the stage.
    private func delayEverywhere(
        milliseconds: (before: Int64, after: Int64), places: StrideTo<Int>, earliest: Int64 = 0,
        _ stage: () -> DispatchStage
    ) {
        for place in places {
            for choice in 0..<16 {
                let stage = stage()
                // Large steps keep the test fast; with small ones a busy-wait reads the clock a thousand times.
                stage.kernel.delay = { 5_000 }
                if milliseconds.before > 0 { stage.run(milliseconds: milliseconds.before) }
                var call = 0
                stage.kernel.delay = {
                    call += 1
                    switch call {
                    case place: return Self.delays[choice & 3]
                    case place + 1: return Self.delays[choice >> 2]
                    default: return 5_000
                    }
                }
                stage.run(milliseconds: milliseconds.after)
                for port in [UInt8(0), 1] {
                    let lateness = stage.lateness(port)
                    guard lateness.count >= 2, lateness.allSatisfy({ (earliest...6_000).contains($0) })
                    else {
                        Issue.record("place \(place), choice \(choice): \(lateness)")
                        return
                    }
                }
            }
        }
    }

    @Test(arguments: [Int64(0), 40_000], [DispatchMode.backstop, .queue])
    func `whatever is delayed between any two calls, each tick is sent once and none early`(
        flight: Int64, mode: DispatchMode
    ) {
        delayEverywhere(milliseconds: (0, 45), places: stride(from: 40, to: 240, by: 2)) {
            let stage = DispatchStage(mode: mode, outputs: 2, microsecondsPerBeat: 400_001)
            stage.kernel.flight = flight
            return stage
        }
    }

    /// Whatever call that happens in.
    @Test
    func `a thread held up until right after a tick was due does not wait awake for the next one`() {
        for place in 40..<240 {
            let stage = DispatchStage(mode: .queue, outputs: 2, microsecondsPerBeat: 400_001)
            var (call, stall) = (0, Int64(0))
            stage.kernel.delay = {
                call += 1
                guard call == place else { return 5_000 }
                let now = HostTime(microseconds: (stage.kernel.now - stage.kernel.apart) / 1000)
                let line = stage.board.map.line
                stall = (now.microseconds(to: line.time(ofTick: line.firstTick(atOrAfter: now))) + 30) * 1_000
                return stall
            }
            stage.run(milliseconds: 45)
            #expect(stage.longestTurn < stall + 5_000_000, "place \(place)")
        }
    }

    @Test(arguments: [Int64(0), 40_000], [Int64(160_000), 1_000_000])
    func `beside another program's queue each tick is sent once, too, and at most half a period early`(
        flight: Int64, interval: Int64
    ) {
        delayEverywhere(milliseconds: (120, 45), places: stride(from: 1, to: 121, by: 3), earliest: -82) {
            let way = DispatchWay(mode: .queue, isAdaptive: true)
            let stage = DispatchStage(way: way, outputs: 2, microsecondsPerBeat: 400_001)
            stage.kernel.flight = flight
            stage.kernel.startDelay = { interval - stage.kernel.now % interval }
            return stage
        }
    }

    @Test(arguments: [UInt64](1...60))
    func `changes at any time neither lose nor double anything, and keep the order`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let ways = [DispatchMode.backstop, .queue, .direct].map { DispatchWay(mode: $0) }
        let way = (ways + [DispatchWay(mode: .queue, isAdaptive: true)])[Int(seed % 4)]
        let stage = DispatchStage(way: way, outputs: 2, microsecondsPerBeat: 400_001)
        if way.isAdaptive { stage.kernel.startDelay = { 160_000 - stage.kernel.now % 160_000 } }
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
            let earliest: Int64 = way.isAdaptive ? -82 : 0
            #expect(stage.lateness(port).allSatisfy { (earliest...2_000).contains($0) }, "\(stage.lateness(port))")
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

    @Test
    func `a Start is never sent after its tick, wherever the thread is held up`() {
        for place in 0..<400 {
            let stage = DispatchStage(mode: .backstop, microsecondsPerBeat: 400_001)
            stage.board.transport = PlannedTransport(isPlaying: true, startTick: 2, ticksPerBar: 96)
            var call = 0
            stage.kernel.delay = {
                call += 1
                return call == place * 3 ? 1_500_000 : 2_000
            }
            stage.run(milliseconds: 60)
            let messages = stage.messages().map(\.message)
            let ticksBefore = messages.firstIndex(of: .start).map { start in
                messages[..<start].count { $0 == .timingClock }
            }
            // Start before tick 2, or, if that was missed, Song Position and Continue later.
            #expect(ticksBefore == nil || ticksBefore == 2, "place \(place)")
        }
    }

    @Test
    func `many outputs that take long to write are still covered by the queue`() {
        let stage = DispatchStage(mode: .backstop, outputs: 20, microsecondsPerBeat: 400_001)
        stage.kernel.delay = { 2_000 }
        stage.wakeUpLatency = { 2_000_000 }
        stage.run(milliseconds: 300)
        for port in 0..<20 { #expect(stage.lateness(UInt8(port)).allSatisfy { (0...300).contains($0) }) }
        #expect(stage.kernel.delivered.contains { $0.isQueued })
    }

    @Test
    func `a line beside a port in queue mode gets its ticks on time`() {
        let stage = DispatchStage(mode: .queue, outputs: 2, microsecondsPerBeat: 400_001)
        stage.board.slots[1].sink = .discard
        stage.board.slots[0].settings.offset = 8_000
        stage.run(milliseconds: 500)
        #expect(stage.longestLateness(slot: 1) <= 5)
    }

    /// Where the queue's next start falls depends on the tempo.
    @Test(arguments: [2_920, 2_960, 3_000, 3_040])
    func `a line whose tick is due right after a group does not wait for the queue's next start`(offset: Int64) {
        for tempo: Int64 in 0..<8 {
            let stage = DispatchStage(mode: .queue, outputs: 3, microsecondsPerBeat: 400_000 + 480 * tempo)
            stage.board.slots[1].settings.offset = 2_400
            stage.board.slots[2].settings.offset = offset
            stage.board.slots[2].sink = .discard
            stage.run(milliseconds: 500)
            for slot in 0..<3 { #expect(stage.longestLateness(slot: slot) <= (slot == 2 ? 5 : 160)) }
        }
    }

    @Test
    func `in queue mode a thread held up for 12 ms now and then delays nothing, at any tempo`() {
        let stage = DispatchStage(mode: .queue, microsecondsPerBeat: 200_001)
        var wakeUps = 0
        stage.wakeUpLatency = {
            wakeUps += 1
            return wakeUps % 10 == 0 ? 12_000_000 : 4_000
        }
        stage.run(milliseconds: 1000)
        #expect(stage.lateness().allSatisfy { (0...200).contains($0) }, "\(stage.lateness())")
    }

    @Test
    func `a Start and its tick sent by the queue keep their order`() {
        let stage = DispatchStage(mode: .backstop, microsecondsPerBeat: 400_001)
        stage.board.transport = PlannedTransport(isPlaying: true, startTick: 4, ticksPerBar: 96)
        stage.wakeUpLatency = { 3_000_000 }
        stage.run(milliseconds: 150)
        let around = stage.messages().drop { $0.message != .start }.prefix(2)
        #expect(around.map(\.message) == [.start, .timingClock])
        #expect(around.allSatisfy { $0.isQueued })
        #expect(stage.messages().filter { $0.message == .start }.count == 1)
        #expect(stage.lateness().allSatisfy { (0...200).contains($0) })
    }

    @Test
    func `a playing song is stopped at the end, after queued messages were taken back`() throws {
        let stage = DispatchStage(mode: .queue, microsecondsPerBeat: 400_001)
        stage.board.transport = PlannedTransport(isPlaying: true, startTick: 1, ticksPerBar: 96)
        stage.run(milliseconds: 100)
        let end = try #require(stage.messages().last)
        stage.kernel.spend(100_000_000)
        #expect(end.message == .stop)
        #expect(stage.messages().last == end, "nothing may follow the last Stop")
    }

    @Test
    func `if the kernel refuses to start the queue, the thread sends every tick on time`() {
        let stage = DispatchStage(mode: .backstop, microsecondsPerBeat: 400_001)
        stage.kernel.refusesStart = true
        stage.run(milliseconds: 1000)
        #expect(stage.lateness().count >= stage.ticksDue())
        #expect(stage.lateness().allSatisfy { (0...6).contains($0) }, "\(stage.lateness())")
    }

    @Test
    func `if the kernel refuses to start the queue for a while, no tick is lost or late`() {
        let stage = DispatchStage(mode: .backstop, microsecondsPerBeat: 400_001)
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

    @Test
    func `no tick is sent twice when the witness's buffer overflows`() {
        let stage = DispatchStage(mode: .backstop, microsecondsPerBeat: 400_001)
        stage.kernel.witnessCapacity = 0
        stage.wakeUpLatency = { 3_000_000 }
        stage.run(milliseconds: 200)
        #expect(stage.lateness().count >= stage.ticksDue())
        #expect(stage.lateness().allSatisfy { (0...200).contains($0) })
    }

    @Test
    func `a queue delayed by another program's timer sends at most half a period early`() {
        let stage = DispatchStage(mode: .backstop, microsecondsPerBeat: 400_001)
        stage.kernel.startDelay = { 900_000 }
        stage.wakeUpLatency = { 3_000_000 }
        stage.run(milliseconds: 200)
        #expect(stage.lateness().count >= stage.ticksDue())
        #expect(stage.lateness().allSatisfy { (-82...1_100).contains($0) })
    }
}
