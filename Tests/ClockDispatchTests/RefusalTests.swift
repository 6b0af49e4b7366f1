import BeatTime
import MIDIClock
import Testing

@testable import ClockDispatch

/// Receivers that accept nothing for a while, and lines that accept part of a message.
@Suite
struct RefusalTests {
    /// Two outputs whose song starts with tick 2, at 134 BPM; the tests decide what port 0 refuses.
    private func stage(_ dispatchCase: DispatchCase = .direct, ticksPerBar: Int64 = 24) -> DispatchStage {
        let stage = DispatchStage(dispatchCase, outputs: 2)
        stage.board.transport = PlannedTransport(isPlaying: true, startTick: 2, ticksPerBar: ticksPerBar)
        return stage
    }

    /// Milliseconds since the stage was created, as nanoseconds of its clock.
    private func at(_ milliseconds: Int64) -> Int64 { 1_000_000_000 + milliseconds * 1_000_000 }

    private func transport(_ stage: DispatchStage, _ port: UInt8 = 0, since: Int64 = 0) -> [ClockMessage] {
        stage.messages(port).filter { $0.message != .timingClock && $0.time >= since }.compactMap(\.message)
    }

    @Test(arguments: DispatchCase.all)
    func `a refused Stop is repeated as soon as the receiver accepts messages again`(dispatchCase: DispatchCase) throws
    {
        let stage = stage(dispatchCase)
        let (stuck, free) = (at(300), at(900))
        stage.kernel.refuses = { [kernel = stage.kernel] port in port == 0 && (stuck..<free).contains(kernel.now) }
        var states: [TickPlanner.SyncState?] = []
        stage.changes = [
            (at(600), { $0.transport.isPlaying = false }), (at(850), { _ in states.append(stage.syncState(slot: 0)) }),
            (at(1_200), { _ in states += [stage.syncState(slot: 0), stage.syncState(slot: 1)] }),
        ]
        stage.run(milliseconds: 1_400)
        #expect(transport(stage, 1) == [.start, .stop])
        #expect(transport(stage) == [.start, .stop])
        let stop = try #require(stage.messages().last { $0.message == .stop })
        #expect((free..<free + 120_000_000).contains(stop.time))
        #expect(states == [.outOfSync, .inSync, .inSync])
    }

    @Test(arguments: DispatchCase.all)
    func `a machine that missed ticks is stopped and placed at a bar, without disturbing others`(
        dispatchCase: DispatchCase
    ) throws {
        let stage = stage(dispatchCase)
        let (stuck, free) = (at(700), at(1_000))
        stage.kernel.refuses = { [kernel = stage.kernel] port in port == 0 && (stuck..<free).contains(kernel.now) }
        stage.run(milliseconds: 2_400)
        #expect(transport(stage, 1) == [.start, .stop])
        let after = transport(stage, since: free)
        guard after.count == 4, case .songPosition(let sixteenths) = after[1] else {
            Issue.record("\(after)")
            return
        }
        #expect(after[0] == .stop && after[2] == .continue && after[3] == .stop)
        #expect(sixteenths % 4 == 0, "a bar")
        // The position belongs to the tick that follows Continue.
        let moves = try #require(stage.messages().last { $0.message == .continue }).time
        let tick = try #require(stage.messages().first { $0.message == .timingClock && $0.time > moves })
        let ticksBefore = stage.messages(1).count { $0.message == .timingClock && $0.time < tick.time - 1_000_000 }
        #expect(Int(sixteenths) * 6 == ticksBefore - 2)
    }

    @Test(arguments: DispatchCase.all)
    func `a stopped machine that missed only ticks is sent nothing else`(dispatchCase: DispatchCase) {
        let stage = stage(dispatchCase)
        stage.board.transport = .stopped
        let (stuck, free) = (at(300), at(600))
        stage.kernel.refuses = { [kernel = stage.kernel] port in port == 0 && (stuck..<free).contains(kernel.now) }
        stage.run(milliseconds: 1_000)
        #expect(transport(stage).isEmpty)
        #expect(stage.syncState(slot: 0) == .inSync)
    }

    @Test(arguments: DispatchCase.all)
    func `of several machines at one port none is disturbed for another until the song stops`(
        dispatchCase: DispatchCase
    ) {
        let stage = stage(dispatchCase)
        stage.board.slots[0].isShared = true
        let (stuck, free) = (at(300), at(600))
        stage.kernel.refuses = { [kernel = stage.kernel] port in port == 0 && (stuck..<free).contains(kernel.now) }
        var states: [TickPlanner.SyncState?] = []
        stage.changes = [
            (at(1_000), { _ in states.append(stage.syncState(slot: 0)) }),
            (at(1_100), { $0.transport.isPlaying = false }),
            (at(1_300), { _ in states.append(stage.syncState(slot: 0)) }),
        ]
        stage.run(milliseconds: 1_400)
        #expect(transport(stage) == [.start, .stop])
        #expect(states == [.someOutOfSync, .inSync])
    }

    @Test
    func `a Stop is repeated without a clock, until it is accepted`() throws {
        let stage = stage(.direct)
        stage.board.slots[0].settings.isClockAlwaysOn = false
        let (stuck, free) = (at(300), at(2_000))
        stage.kernel.refuses = { [kernel = stage.kernel] port in port == 0 && (stuck..<free).contains(kernel.now) }
        stage.changes = [(at(600), { $0.transport.isPlaying = false })]
        stage.run(milliseconds: 3_000)
        #expect(transport(stage) == [.start, .stop])
        let stop = try #require(stage.messages().last)
        #expect(stop.message == .stop && (free..<free + 300_000_000).contains(stop.time))
    }

    /// The other of two machines at the port has missed something; the port gets only ticks until the song stops.
    @Test(arguments: DispatchCase.all)
    func `a Stop for several machines is repeated without a clock, too`(dispatchCase: DispatchCase) throws {
        let stage = stage(dispatchCase)
        stage.board.slots[0].isShared = true
        stage.board.slots[0].settings.isClockAlwaysOn = false
        let free = at(2_000)
        stage.kernel.refuses = { [kernel = stage.kernel, at] port in
            port == 0 && ((at(300)..<at(400)).contains(kernel.now) || (at(590)..<free).contains(kernel.now))
        }
        stage.changes = [(at(600), { $0.transport.isPlaying = false })]
        stage.run(milliseconds: 3_000)
        #expect(transport(stage) == [.start, .stop])
        let stop = try #require(stage.messages().last)
        #expect(stop.message == .stop && (free..<free + 300_000_000).contains(stop.time))
    }

    @Test
    func `a machine that never accepted its Stop gets it once more at the end`() {
        let stage = stage(.direct)
        let (stuck, free) = (at(300), at(999))
        stage.kernel.refuses = { [kernel = stage.kernel] port in port == 0 && (stuck..<free).contains(kernel.now) }
        stage.changes = [(at(600), { $0.transport.isPlaying = false })]
        stage.run(milliseconds: 1_000)
        #expect(transport(stage) == [.start, .stop])
    }

    @Test(arguments: DispatchCase.all)
    func `a machine may play from its Start until it has accepted its Stop`(dispatchCase: DispatchCase) {
        let stage = stage(dispatchCase)
        let (stuck, free) = (at(590), at(900))
        stage.kernel.refuses = { [kernel = stage.kernel] port in port == 0 && (stuck..<free).contains(kernel.now) }
        stage.board.transport.startTick = 6
        var known: [[Bool]] = []
        func look(_ milliseconds: Int64) -> (Int64, (inout OutputBoard) -> Void) {
            (at(milliseconds), { _ in known.append([stage.mayPlay(slot: 0), stage.mayPlay(slot: 1)]) })
        }
        stage.changes = [look(1), look(400), (at(600), { $0.transport.isPlaying = false }), look(850), look(1_200)]
        stage.run(milliseconds: 1_400)
        #expect(known == [[false, false], [true, true], [true, false], [false, false]])
    }

    @Test(arguments: DispatchCase.all)
    func `a machine that does not accept its final Stop may play on`(dispatchCase: DispatchCase) {
        let stage = stage(dispatchCase)
        stage.kernel.refuses = { [kernel = stage.kernel, end = at(800)] port in port == 0 && kernel.now >= end }
        stage.run(milliseconds: 800)
        #expect(transport(stage) == [.start] && transport(stage, 1) == [.start, .stop])
        #expect(stage.mayPlay(slot: 0) && !stage.mayPlay(slot: 1))
    }

    @Test(arguments: [0, 1, 2, 3])
    func `a Song Position that a line accepts only in part is finished before anything else`(room: Int) {
        let stage = stage(.direct)
        stage.board.slots[0].sink = .line(7)
        // The song began long before, so the machine is placed.
        stage.board.transport.startTick = -100
        var fullSince: Int64?
        stage.kernel.lineRoom = { [kernel = stage.kernel] bytes in
            if let fullSince { return kernel.now < fullSince + 300_000_000 ? 0 : .max }
            guard bytes.bytes[0] == 0xF2 else { return .max }
            fullSince = kernel.now
            return room
        }
        stage.run(milliseconds: 2_000)
        #expect(fullSince != nil)
        let bytes = stage.kernel.lineBytes.filter { $0 < 0xF8 }
        #expect(bytes.enumerated().allSatisfy { index, byte in (byte == 0xF2) == (index % 3 == 0) }, "\(bytes)")
        var parser = ClockByteParser()
        let messages = stage.kernel.lineBytes.compactMap { parser.received($0) }.filter { $0 != .timingClock }
        let isFinished = room > 0
        let first = isFinished ? 2 : 1
        guard messages.count == first + 3, case .songPosition = messages[first] else {
            Issue.record("\(messages)")
            return
        }
        #expect(messages[first - 1] == .stop)
        #expect(messages[(first + 1)...] == [.continue, .stop])
    }
}
