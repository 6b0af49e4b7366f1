import BeatTime
import MIDIClock
import RealTime
import Simulation
import Testing

@testable import ClockDispatch

/// What a real-time thread does if nobody has chosen a way for it.
@Suite
struct AdaptiveDispatchTests {
    private let way = DispatchWay(mode: .queue, isAdaptive: true)

    @Test(arguments: [Int64(200), 5_000])
    func `alone, the queue sends every tick right at its time`(callTime: Int64) {
        let stage = DispatchStage(way: way, microsecondsPerBeat: 400_001)
        stage.kernel.delay = { callTime }
        stage.run(milliseconds: 2000)
        #expect(stage.mode == .queue)
        #expect(stage.lateness().count >= stage.ticksDue())
        #expect(stage.lateness().allSatisfy { (0...12).contains($0) }, "\(stage.lateness())")
        #expect(stage.kernel.delivered.allSatisfy { $0.isQueued })
    }

    @Test(arguments: [UInt64](1...10))
    func `a thread held up for 8 ms again and again delays at most the tick of the first time`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stage = DispatchStage(way: way, microsecondsPerBeat: 448_765)
        stage.wakeUpLatency = {
            Int.random(in: 0..<5, using: &random) > 0 ? 4_000 : .random(in: 0...8_000_000, using: &random)
        }
        stage.run(milliseconds: 4000)
        #expect(stage.lateness().allSatisfy { (0...3_500).contains($0) })
        #expect(stage.lateness().count { $0 > 1_000 } <= 1, "\(stage.lateness())")
    }

    /// So many ticks are more than the thread's share of the processor, so that it wakes for some of them at a time.
    ///
    /// Each port's tick comes after those of the ports before it, which take one call each.
    @Test(arguments: [16, 64], [UInt64](1...5))
    func `at 1000 BPM a thread held up for 3 ms delays no tick by more than 2 periods`(outputs: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stage = DispatchStage(way: way, outputs: outputs, microsecondsPerBeat: 60_000)
        let callTime: Int64 = 4
        stage.kernel.delay = { callTime * 1000 }
        stage.wakeUpLatency = {
            Int.random(in: 0..<5, using: &random) > 0 ? 4_000 : .random(in: 0...3_000_000, using: &random)
        }
        stage.run(milliseconds: 4000)
        for port in 0..<UInt8(outputs) {
            let settled = stage.lateness(port).dropFirst(400)
            #expect(stage.lateness(port).count >= stage.ticksDue())
            let most = 330 + callTime * Int64(port)
            #expect(settled.allSatisfy { (0...most).contains($0) }, "\(port): \(settled)")
        }
    }

    /// To take so much back and to plan it anew takes more than half of the time between two ticks, or between one that
    /// half of the outputs send and the next one of the others.
    @Test(arguments: [Int64(0), 1_500], [UInt64](1...5))
    func `at 1000 BPM a thread held up until just before a tick leaves that to the queue`(offset: Int64, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stage = DispatchStage(way: way, outputs: 16, microsecondsPerBeat: 60_000)
        for slot in 8..<16 { stage.board.slots[slot].settings.offset = offset }
        stage.kernel.planTime = offset > 0 ? 600_000 : 1_200_000
        stage.wakeUpLatency = {
            Int.random(in: 0..<20, using: &random) > 0 ? 4_000 : .random(in: 0...2_500_000, using: &random)
        }
        stage.run(milliseconds: 10_000)
        for port in UInt8(0)..<16 {
            // Outputs with an offset begin one tick earlier.
            let shift = port < 8 || offset == 0 ? 0 : 2_500 - offset
            let settled = stage.lateness(port).dropFirst(400).map { $0 + shift }
            #expect(stage.lateness(port).count >= stage.ticksDue())
            let far = settled.filter { !(0...340).contains($0) }
            #expect(far.isEmpty, "\(port): \(far)")
        }
    }

    /// The leader's output, and one whose device is unplugged.
    @Test
    func `outputs without a device wake the thread for nothing`() {
        func turns(outputs: Int) -> Int {
            let stage = DispatchStage(way: way, outputs: outputs, microsecondsPerBeat: 400_001)
            for slot in 1..<outputs {
                stage.board.slots[slot].sink = .away
                stage.board.slots[slot].settings.offset = -3_000 + Int64(slot) * 7_000
            }
            stage.run(milliseconds: 2000)
            #expect(stage.lateness().count >= stage.ticksDue())
            #expect(stage.lateness().allSatisfy { (0...12).contains($0) }, "\(stage.lateness())")
            #expect(stage.kernel.delivered.allSatisfy { $0.isQueued })
            return stage.turns
        }
        #expect(turns(outputs: 3) == turns(outputs: 1))
    }

    /// At 125 BPM a tick is a whole number of the other timer's intervals, so that every start is late by the same time.
    @Test(arguments: [Int64(160_000), 1_000_000, 4_000_000, 20_000_000], [Int64(400_001), 480_000])
    func `beside another program's queue the thread sends, exactly`(interval: Int64, beat: Int64) {
        let stage = DispatchStage(way: way, microsecondsPerBeat: beat)
        stage.kernel.delay = { 5_000 }
        stage.kernel.spend(77_000)
        stage.kernel.runAnotherQueue(interval: interval)
        stage.run(milliseconds: 4000)
        #expect(stage.mode == .backstop)
        let settled = stage.lateness().dropFirst(30)
        #expect(stage.lateness().count >= stage.ticksDue())
        #expect(settled.allSatisfy { (0...20).contains($0) }, "\(settled)")
    }

    /// What a call takes, in nanoseconds; a thread that has none of its processor time left lets the queue run on.
    @Test(arguments: [Int64(200), 4_000, 8_000], [Int64(160_000), 1_000_000])
    func `beside another program's queue the thread is exact on machines fast and slow`(
        callTime: Int64, interval: Int64
    ) {
        let stage = DispatchStage(way: way, microsecondsPerBeat: 400_001)
        stage.kernel.delay = { callTime }
        stage.kernel.runAnotherQueue(interval: interval)
        stage.run(milliseconds: 6000)
        #expect(stage.lateness().count >= stage.ticksDue())
        let settled = stage.lateness().dropFirst(30)
        #expect(settled.allSatisfy { (-82...82).contains($0) }, "\(settled)")
    }

    /// Beside a slow timer ours is started anew every ten seconds; a tick or two may then have nothing to stand by.
    @Test(arguments: [Int64(160_000), 1_000_000, 4_000_000, 20_000_000], [UInt64](1...5))
    func `beside another program's queue a held-up thread moves a tick by half a period at most`(
        interval: Int64, seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        let stage = DispatchStage(way: way, microsecondsPerBeat: 400_001)
        stage.kernel.runAnotherQueue(interval: interval)
        stage.run(milliseconds: 1000)
        // Whatever a stage runs next starts the queue anew.
        let settled = stage.lateness().count + 30
        stage.wakeUpLatency = {
            Int.random(in: 0..<5, using: &random) > 0 ? 4_000 : .random(in: 0...4_000_000, using: &random)
        }
        stage.run(milliseconds: 25_000)
        let loaded = stage.lateness().dropFirst(settled)
        let far = loaded.filter { !(-82...82).contains($0) }
        #expect(stage.messages().dropFirst(settled).contains { $0.isQueued })
        // More than one in a hundred would be told as late.
        #expect(interval > Company.longestWait ? far.count <= loaded.count / 100 : far.isEmpty, "\(far)")
        #expect(far.allSatisfy { (-82...4_082).contains($0) }, "\(far)")
    }

    /// As an audio server's thread may do, on the only processor.
    @Test
    func `beside another program's queue a thread of higher priority seldom delays a tick`() {
        let stage = DispatchStage(way: way, microsecondsPerBeat: 400_001)
        let kernel = stage.kernel
        /// How long that thread, which runs for 3 ms in 10.1, is still going to run.
        func rest() -> Int64 { max(0, 3_000_000 - (kernel.now + 5_000_000) % 10_100_000) }
        kernel.runAnotherQueue(interval: 160_000)
        kernel.delay = { rest() + 1_000 }
        stage.wakeUpLatency = { rest() + 4_000 }
        stage.run(milliseconds: 30_000)
        let settled = stage.lateness().dropFirst(100)
        #expect(stage.lateness().count >= stage.ticksDue())
        #expect(settled.count { abs($0) > 1_000 } <= settled.count / 100, "\(settled)")
    }

    @Test(arguments: [UInt64](1...5))
    func `beside another program's queue a thread held up while it measures is exact again later`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let stage = DispatchStage(way: way, microsecondsPerBeat: 400_001)
        stage.kernel.runAnotherQueue(interval: 1_000_000)
        stage.kernel.delay = { .random(in: 0..<10, using: &random) > 0 ? 200 : 800_000 }
        // A change of the board is only the moment at which that ends.
        stage.changes = [(stage.kernel.now + 2_000_000_000, { _ in stage.kernel.delay = { 200 } })]
        stage.wakeUpLatency = {
            Int.random(in: 0..<5, using: &random) > 0 ? 4_000 : .random(in: 0...4_000_000, using: &random)
        }
        stage.run(milliseconds: 12_000)
        let settled = stage.lateness().dropFirst(150)
        #expect(stage.lateness().count >= stage.ticksDue())
        #expect(settled.allSatisfy { (-82...82).contains($0) }, "\(settled)")
    }

    /// Among them outputs whose ticks come soon after another's.
    @Test(arguments: [Int64(5_000), 2_500, 10_000], [UInt64](1...3))
    func `beside another program's queue every output is sent on time, also right after another`(
        offset: Int64, seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        let stage = DispatchStage(way: way, outputs: 2, microsecondsPerBeat: 480_000)
        stage.board.slots[1].settings.offset = offset
        stage.kernel.delay = { 5_000 }
        stage.kernel.runAnotherQueue(interval: 1_000_000)
        // In one wake-up of ten the thread is held up for longer than it may wait awake each time.
        stage.wakeUpLatency = { Int.random(in: 0..<10, using: &random) > 0 ? 4_000 : 500_000 }
        stage.run(milliseconds: 10_000)
        for port in UInt8(0)..<2 {
            let late = stage.lateness(port).map { $0 - (port == 0 ? 0 : offset) }
            #expect(late.count >= stage.ticksDue(offset: port == 0 ? 0 : offset))
            #expect(late.dropFirst(50).allSatisfy { (-82...82).contains($0) }, "\(late)")
        }
    }

    /// Some come too soon after another one for the queue to be started, and measured, in between.
    @Test(arguments: [[Int64](0..<12).map { $0 * 2_000 }, [0, 8_000, 11_000]], [UInt64](1...3))
    func `beside another program's queue ours stands by for many outputs, too`(offsets: [Int64], seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let tick: Int64 = 24_000
        let stage = DispatchStage(way: way, outputs: offsets.count, microsecondsPerBeat: 24 * tick)
        for (slot, offset) in offsets.enumerated() { stage.board.slots[slot].settings.offset = offset }
        stage.kernel.runAnotherQueue(interval: 1_000_000)
        stage.wakeUpLatency = {
            Int.random(in: 0..<20, using: &random) > 0 ? 4_000 : .random(in: 0...4_000_000, using: &random)
        }
        stage.run(milliseconds: 25_000)
        for (slot, offset) in offsets.enumerated() {
            let settled = stage.lateness(UInt8(slot)).dropFirst(100).map { $0 - offset }
            #expect(stage.lateness(UInt8(slot)).count >= stage.ticksDue(offset: offset))
            // Outputs with an offset begin one tick earlier.
            let shift = settled[0] < -tick / 2 ? tick : 0
            let far = settled.map { $0 + shift }.filter { !(-82...82).contains($0) }
            #expect(far.count <= settled.count / 100, "\(offset): \(far)")
        }
    }

    @Test
    func `beside another program's queue ours does not run on through a pause`() {
        let stage = DispatchStage(way: way, outputs: 2, microsecondsPerBeat: 480_000)
        stage.board.slots[1].settings.offset = 2_000
        stage.kernel.runAnotherQueue(interval: 1_000_000)
        stage.run(milliseconds: 1000)
        let before = stage.kernel.interrupts
        stage.run(milliseconds: 10_000)
        #expect((stage.kernel.interrupts - before) * Int(QueueGrid.period) < 6_000_000_000)
    }

    @Test
    func `once the other program's queue is gone, ours sends again`() {
        let stage = DispatchStage(way: way, microsecondsPerBeat: 400_001)
        stage.kernel.runAnotherQueue(interval: 160_000)
        // A change of the board is only the moment at which that queue ends.
        stage.changes = [(stage.kernel.now + 1_000_000_000, { _ in stage.kernel.endAnotherQueue() })]
        stage.run(milliseconds: 900)
        #expect(stage.mode == .backstop)
        stage.run(milliseconds: 3500)
        #expect(stage.mode == .queue)
        #expect(stage.lateness().allSatisfy { (0...330).contains($0) })
    }

    /// From a fast laptop to a slow board: what a call takes, in nanoseconds.
    @Test(arguments: [Int64(1_000), 4_000, 8_000], [Int64(0), 160_000])
    func `eight outputs with eight offsets keep the thread awake for at most 4 percent of the time`(
        callTime: Int64, interval: Int64
    ) {
        let stage = DispatchStage(way: way, outputs: 8, microsecondsPerBeat: 500_000)
        for slot in 0..<8 { stage.board.slots[slot].settings.offset = Int64(slot) * 2_500 }
        stage.kernel.delay = { callTime }
        if interval > 0 { stage.kernel.runAnotherQueue(interval: interval) }
        stage.run(milliseconds: 3000)
        let (before, start) = (stage.kernel.awake, stage.kernel.now)
        stage.run(milliseconds: 3000)
        let share = Double(stage.kernel.awake - before) / Double(stage.kernel.now - start)
        #expect(share <= 0.04, "\(share)")
        for slot in 0..<8 {
            let lateness = stage.lateness(UInt8(slot)).map { $0 - Int64(slot) * 2_500 }
            let earliest: Int64 = interval > 0 ? -82 : 0
            #expect(lateness.allSatisfy { (earliest...500).contains($0) }, "\(lateness)")
        }
    }

    @Test(arguments: [Int64(5_000), 20_000, 40_000])
    func `interrupts that are late as a rule are not taken for another queue`(lateness: Int64) {
        var random = SeededGenerator(seed: 5)
        let stage = DispatchStage(way: way, microsecondsPerBeat: 400_001)
        stage.kernel.interruptLateness = { .random(in: 0...lateness, using: &random) }
        for _ in 0..<10 {
            stage.run(milliseconds: 500)
            #expect(stage.mode == .queue)
        }
    }

    @Test
    func `what the queue has no room for is sent by the thread`() {
        let stage = DispatchStage(way: way, outputs: 6, microsecondsPerBeat: 400_001)
        stage.kernel.room = 4
        stage.run(milliseconds: 1000)
        for port in 0..<6 {
            let lateness = stage.lateness(UInt8(port))
            #expect(lateness.count >= stage.ticksDue())
            #expect(lateness.allSatisfy { (0...300).contains($0) }, "\(lateness)")
        }
    }

    /// What a call takes, in nanoseconds, and how late the thread wakes.
    @Test(arguments: [(Int64(11_000), Int64(4_000)), (11_000, 150_000), (25_000, 4_000)])
    func `on a slow board ticks are exact to 0.2 ms beside another queue`(
        callTime: Int64, wakeUpLatency: Int64
    ) {
        let stage = DispatchStage(way: way, microsecondsPerBeat: 400_001)
        stage.kernel.delay = { callTime }
        stage.wakeUpLatency = { wakeUpLatency }
        stage.kernel.runAnotherQueue(interval: 160_000)
        stage.run(milliseconds: 6000)
        let settled = stage.lateness().suffix(200)
        #expect(settled.allSatisfy { (-200...200).contains($0) }, "\(settled)")
    }

    @Test
    func `the first tick of a song is sent by the thread beside another queue, too`() throws {
        let stage = DispatchStage(way: way, microsecondsPerBeat: 400_001)
        stage.kernel.runAnotherQueue(interval: 160_000)
        stage.run(milliseconds: 1000)
        let tick = stage.board.map.line.firstTick(
            atOrAfter: HostTime(microseconds: (stage.kernel.now - stage.kernel.apart) / 1000))
        stage.changes = [
            (
                stage.kernel.now + 10_000_000,
                { $0.transport = PlannedTransport(isPlaying: true, startTick: tick + 12, ticksPerBar: 96) }
            )
        ]
        stage.run(milliseconds: 500)
        let first = try #require(stage.messages().drop { $0.message != .start }.first { $0.message == .timingClock })
        #expect(!first.isQueued)
    }

    /// The song is changed at forty moments between two ticks, 8 to 25 ms before its new start.
    @Test(arguments: [Int64(160_000), 1_000_000])
    func `a song that starts anew while it plays is stopped and started beside another queue, too`(
        interval: Int64
    ) {
        for step in 0..<40 {
            let stage = DispatchStage(way: way, microsecondsPerBeat: 400_001)
            stage.kernel.runAnotherQueue(interval: interval)
            stage.board.transport = PlannedTransport(isPlaying: true, startTick: 2, ticksPerBar: 96)
            stage.run(milliseconds: 300, isEnding: false)
            let at = stage.kernel.now + 20_000_000 + Int64(step) * 416_000
            let soon = HostTime(microseconds: (at - stage.kernel.apart) / 1000 + 8_000)
            let tick = stage.board.map.line.firstTick(atOrAfter: soon)
            let transport = PlannedTransport(isPlaying: true, startTick: tick, ticksPerBar: 96)
            stage.changes = [(at, { $0.transport = transport })]
            stage.run(milliseconds: 200)
            let sent = stage.messages().map(\.message)
            #expect(sent.filter { $0 != .timingClock } == [.start, .stop, .start, .stop], "\(step)")
            let before = sent[..<(sent.lastIndex(of: .start) ?? 0)].count { $0 == .timingClock }
            #expect(before == tick, "\(step)")
        }
    }
}
