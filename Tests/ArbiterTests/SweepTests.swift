import BeatTime
import LinkSession
import MIDIClock
import Simulation
import Testing

@testable import Arbiter

/// A tempo knob turned fifty times a second, from one end of the range to the other.
@Suite
struct SweepTests {
    @Test(arguments: [0, 1, 7_000, 480_000] as [Int64])
    func `the ticks of an output that sends on time or later stay exactly on the session's beats`(offset: Int64) {
        var sweep = Sweep(offset: offset)
        sweep.run()
        #expect(sweep.machine.transport == [.start])
        // Only a tick sent just before, or just when, a change was received can be off, and by no more than that delay.
        let errors = sweep.errors().filter { abs($0) > 2 }
        #expect(errors.allSatisfy { abs($0) <= Sweep.newsDelay })
        #expect(errors.count < sweep.errors().count / 50)
        if offset > Sweep.newsDelay { #expect(errors.isEmpty) }
    }

    @Test(arguments: [-1_000, -20_000, -100_000] as [Int64])
    func `an output that sends early learns late, keeps its distance, loses no tick and catches up`(offset: Int64) {
        var sweep = Sweep(offset: offset)
        sweep.run()
        // The drum machine has checked every message; a burst is caught up within its gap rule.
        #expect(sweep.machine.isPlaying)
        #expect(abs(sweep.settledError()) <= 1)
    }

    @Test(arguments: Seeds.standing(1...12))
    func `tempo changes of any size at any time leave every tick of a late output on its beat`(seed: UInt64) {
        var sweep = Sweep(offset: 300_000, random: SeededGenerator(seed: seed))
        sweep.run()
        #expect(sweep.machine.transport == [.start])
        let errors = sweep.errors().filter { abs($0) > 2 }
        #expect(errors.isEmpty, "seed \(seed)")
    }
}

/// One gateway whose session constantly changes its tempo, with one output.
private struct Sweep {
    /// Delay until the output thread knows of a change, in microseconds.
    static let newsDelay: Int64 = 300

    private var gateway = LoneGateway(tempo: 20)
    private var planner = TickPlanner()
    private(set) var machine = DrumMachine()
    private var sent: [(tick: Int64, at: Int64)] = []
    /// The session's own lines, each with its start time.
    private var truth: [(since: Int64, line: TickLine)] = []
    private let settings: OutputSettings
    private var random: SeededGenerator?

    init(offset: Int64, random: SeededGenerator? = nil) {
        var settings = OutputSettings()
        settings.offset = offset
        self.settings = settings
        self.random = random
    }

    mutating func run() {
        gateway.edit(.play(reach: 700_000), at: 1_000_000)
        truth = [(.min, gateway.arbiter.line)]
        var now: Int64 = 1_000_001
        for change in 0..<400 {
            let pause = random == nil ? 20_000 : Int64.random(in: 3_000...60_000, using: &random!)
            now = clock(from: now, to: now + pause)
            gateway.commit(.setTempo(tempo(change)), at: now)
            truth.append(
                (now, TickLine(gateway.engine.sessionState.timeline, tickOrigin: gateway.arbiter.line.tickOrigin)))
            now = clock(from: now, to: now + Self.newsDelay)
            gateway.hear(at: now)
        }
        _ = clock(from: now, to: now + 90_000_000)
    }

    private mutating func tempo(_ change: Int) -> Tempo {
        guard random == nil else { return Tempo(beatsPerMinute: Double.random(in: 20...999, using: &random!)) }
        let share = Double(change % 200) / 199
        return Tempo(beatsPerMinute: 20 + 979 * (change < 200 ? share : 1 - share))
    }

    private mutating func clock(from start: Int64, to end: Int64) -> Int64 {
        var now = start
        let plan = OutputPlan(transport: gateway.arbiter.transport, settings: settings)
        while let planned = planner.next(plan, on: gateway.arbiter.map, at: HostTime(microseconds: now)) {
            now = max(now, planned.due.microseconds)
            guard now < end else { break }
            planner.sent(planned, at: HostTime(microseconds: now))
            let fault = machine.take(planned.message, at: now, on: gateway.arbiter.line)
            #expect(fault == nil)
            if planned.message == .timingClock { sent.append((planned.place.tick, now)) }
        }
        return end
    }

    /// Distance of each sent tick from the session's beat, in microseconds.
    func errors() -> [Int64] { sent.map { $0.at - settings.offset - time(ofTick: $0.tick) } }

    /// The same for the last tick, long after the last change.
    func settledError() -> Int64 { errors().last ?? .max }

    private func time(ofTick tick: Int64) -> Int64 {
        for index in truth.indices.reversed() {
            let time = truth[index].line.time(ofTick: tick).microseconds
            if time >= truth[index].since { return index + 1 < truth.count ? min(time, truth[index + 1].since) : time }
        }
        return truth[0].line.time(ofTick: tick).microseconds
    }
}
