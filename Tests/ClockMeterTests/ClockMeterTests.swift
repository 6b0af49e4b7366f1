import BeatTime
import MIDIClock
import Simulation
import Testing

@testable import ClockMeter

/// Clocks with known figures.
@Suite
struct ClockMeterTests {
    private static let tempos = [97.3, 120, 133.7, 174]

    @Test(arguments: tempos)
    func `a perfect clock has no jitter and the right tempo`(tempo: Double) throws {
        let figures = measured(count: 2_000) { _ in tempo }
        let jitter = try #require(figures.jitter)
        // Stamps are whole microseconds.
        #expect(jitter.timeIntervalErrorMicroseconds.max <= 1.1)
        #expect(jitter.intervalMicroseconds.deviation < 0.6)
        #expect(abs(jitter.intervalMicroseconds.mean - 2_500_000 / tempo) < 0.01)
        let found = try #require(figures.tempo)
        #expect(abs(found.beatsPerMinute / tempo - 1) < 1e-6)
        #expect(found.changes == 0)
        #expect(figures.ticks == .init(received: 2_000, measured: 2_000))
        #expect(figures.state == .locked)
    }

    @Test(arguments: tempos)
    func `Gaussian jitter of 200 us is measured correctly`(tempo: Double) throws {
        let figures = measured(count: 9_984, jitter: .gaussian(200)) { _ in tempo }
        let jitter = try #require(figures.jitter)
        let error = jitter.timeIntervalErrorMicroseconds
        #expect(isNear(error.deviation, 200, 0.03))
        #expect(isNear(error.p50, 0.6745 * 200, 0.05))
        #expect(isNear(error.p99, 2.576 * 200, 0.06))
        #expect(isNear(error.p999, 3.29 * 200, 0.12))
        #expect((3.3 * 200...5.5 * 200).contains(error.max))
        #expect(isNear(jitter.intervalMicroseconds.deviation, 200 * 2.0.squareRoot(), 0.03))
        #expect(isNear(jitter.cycleToCycleMicroseconds.rms, 200 * 6.0.squareRoot(), 0.04))
        #expect(figures.ticks == .init(received: 9_984, measured: 9_984))
        let found = try #require(figures.tempo)
        #expect(abs(found.beatsPerMinute - tempo) < 4 * found.deviation)
        #expect(found.deviation < 1e-5 * tempo)
    }

    @Test func `delays spread evenly over a millisecond are measured correctly`() throws {
        let figures = measured(count: 9_984, jitter: .uniform(1_000)) { _ in 133.7 }
        let error = try #require(figures.jitter).timeIntervalErrorMicroseconds
        #expect(isNear(error.deviation, 1_000 / 12.0.squareRoot(), 0.03))
        #expect(isNear(error.p50, 250, 0.05))
        #expect(isNear(error.p99, 495, 0.1))
        // The line through a block itself has a small error.
        #expect((500...680).contains(error.max))
        let low = try #require(figures.histogram.first?.fromMicroseconds)
        let high = try #require(figures.histogram.last?.fromMicroseconds)
        #expect(low < -500 && high > 400)
        #expect(figures.histogram.reduce(0) { $0 + $1.ticks } == 9_984)
    }

    @Test func `ticks that are randomly early or late by a fixed amount are off by that amount`() throws {
        var random = SeededGenerator(seed: 3)
        var meter = ClockMeter(start: HostTime(microseconds: 0))
        for number in Int64(1)...9_600 {
            let error: Int64 = random.chance(0.5) ? 400 : -400
            meter.received(.timingClock, at: HostTime(microseconds: number * 20_000 + error))
        }
        let error = try #require(meter.figures().jitter).timeIntervalErrorMicroseconds
        #expect(isNear(error.deviation, 400, 0.01))
        #expect(isNear(error.p50, 400, 0.05))
        // The line through a block itself has a small error.
        #expect((400..<800).contains(error.max))
    }

    @Test func `1 ms frames that beat against the tempo are jitter and no change of tempo`() throws {
        for tempo in [120.3, 125.06, 133.7] {
            let figures = measured(count: 6_000, jitter: .frames) { _ in tempo }
            let error = try #require(figures.jitter).timeIntervalErrorMicroseconds
            #expect((200...330).contains(error.deviation), "\(tempo)")
            #expect(figures.tempo?.changes == 0, "\(tempo)")
            #expect(figures.ticks.measured == 6_000, "\(tempo)")
        }
    }

    @Test(arguments: [(30.0, 120.0), (-80, 128.5), (4, 97.3)])
    func `a clock that runs fast or slow is measured to one part per million`(off: Double, tempo: Double) throws {
        let figures = measured(count: 20_000, jitter: .gaussian(100)) { _ in tempo * (1 + off / 1_000_000) }
        let drift = try #require(figures.tempo?.drift)
        #expect(drift.nominalTempo == tempo)
        #expect(abs(drift.partsPerMillion - off) < 0.5)
        #expect(abs(drift.partsPerMillion - off) < 4 * drift.deviation)
    }

    @Test func `drift is relative to the given tempo, and absent without a round tempo nearby`() throws {
        let meter = meter(count: 2_000) { _ in 120.04 }
        #expect(meter.figures().tempo?.drift == nil)
        let drift = try #require(meter.figures(nominal: 120).tempo?.drift)
        #expect(abs(drift.partsPerMillion - 333.3) < 1)
    }

    @Test func `lost ticks are counted and are not jitter`() throws {
        let faults: [LeaderClock.Fault] = [.lost(700..<701), .lost(1_300..<1_303), .lost(1_900..<1_901)]
        let figures = measured(count: 4_000, jitter: .gaussian(50), faults: faults) { _ in 120 }
        #expect(figures.ticks == .init(received: 3_995, lost: 5, measured: 3_995))
        #expect(isNear(try #require(figures.jitter).timeIntervalErrorMicroseconds.deviation, 50, 0.05))
        #expect(figures.tempo?.changes == 0)
    }

    @Test func `doubled ticks are counted and are not jitter`() throws {
        let faults = [600, 601, 1_400, 2_222].map(LeaderClock.Fault.doubled)
        let figures = measured(count: 4_000, jitter: .gaussian(50), faults: faults) { _ in 120 }
        #expect(figures.ticks == .init(received: 4_004, doubled: 4, measured: 4_000))
        #expect(isNear(try #require(figures.jitter).timeIntervalErrorMicroseconds.deviation, 50, 0.05))
    }

    @Test func `a stall counts with its longest delay, and moves no other tick`() throws {
        let figures = measured(
            count: 4_000, jitter: .gaussian(20), faults: [.stall(after: 2_000, microseconds: 100_000)]
        ) { _ in 120 }
        let error = try #require(figures.jitter).timeIntervalErrorMicroseconds
        // The tick after the last punctual one waits the longest: from its own time to the end of the stall.
        #expect(abs(error.max - (100_000 - 2_500_000 / 120)) < 150)
        #expect(error.p99 < 100)
        #expect(figures.ticks == .init(received: 4_000, measured: 4_000))
        #expect(figures.silences.count == 0)
        let longest = try #require(figures.jitter).intervalMicroseconds.longest
        #expect(abs(longest - 100_000) < 150)
    }

    @Test func `a pausing clock was silent, and jitter is unchanged`() throws {
        var meter = meter(count: 1_000, jitter: .gaussian(50)) { _ in 120 }
        meter.play(count: 1_000, after: 3_000_000, jitter: .gaussian(50)) { _ in 120 }
        let figures = meter.figures()
        #expect(figures.silences.count == 1)
        #expect(abs(figures.silences.longestSeconds - 3) < 0.001)
        #expect(figures.ticks.lost == 0)
        let jitter = try #require(figures.jitter)
        #expect(isNear(jitter.timeIntervalErrorMicroseconds.deviation, 50, 0.05))
        #expect(jitter.intervalMicroseconds.longest < 22_000)
    }

    @Test func `a change of tempo is one change and no jitter`() throws {
        let figures = measured(count: 4_000, jitter: .gaussian(50)) { $0 < 2_000 ? 120 : 126 }
        let tempo = try #require(figures.tempo)
        #expect(tempo.changes == 1)
        #expect(abs(tempo.beatsPerMinute - 126) < 0.002)
        #expect(abs(tempo.slowest - 120) < 0.01 && abs(tempo.fastest - 126) < 0.01)
        let error = try #require(figures.jitter).timeIntervalErrorMicroseconds
        #expect(isNear(error.deviation, 50, 0.05))
        #expect(error.max < 300)
        // Four beats are left out before and after those with the change.
        #expect(figures.ticks.measured >= 4_000 - 3 * 96)
    }

    @Test func `a gentle ramp appears as a parabola against the line through four beats`() throws {
        // Each interval is longer than the one before by 50 ns.
        let figures = measured(count: 3_000) { 2_500_000 / (20_000 + 0.05 * Double($0)) }
        let error = try #require(figures.jitter).timeIntervalErrorMicroseconds
        let half = 48.0
        #expect(isNear(error.max, 0.05 / 2 * half * half * 2 / 3, 0.06))
        #expect(isNear(error.deviation, 0.05 / 2 * half * half * (4.0 / 45).squareRoot(), 0.06))
        let tempo = try #require(figures.tempo)
        #expect(tempo.changes == 0)
        #expect(isNear(tempo.fastest, 2_500_000 / 20_002.4, 1e-4))
        #expect(isNear(tempo.slowest, 2_500_000 / 20_147.6, 1e-4))
    }

    @Test func `while the tempo changes quickly nothing is measured, and it counts as one change`() throws {
        let figures = measured(count: 2_000) { 120 + 0.05 * Double($0) }
        #expect(figures.ticks.measured < 200)
        #expect(figures.tempo?.changes == 1)
        #expect(try #require(figures.tempo).fastest > 210)
    }

    @Test func `the transport is reported with times and the song position`() {
        var meter = ClockMeter(start: HostTime(microseconds: 5_000_000))
        func at(_ milliseconds: Int64) -> HostTime { HostTime(microseconds: 5_000_000 + milliseconds * 1_000) }
        for tick in Int64(0)..<48 { meter.received(.timingClock, at: at(tick * 20)) }
        meter.received(.songPosition(16), at: at(950))
        meter.received(.continue, at: at(955))
        #expect(meter.figures().transport.motion == .pending)
        for tick in Int64(48)..<73 { meter.received(.timingClock, at: at(tick * 20)) }
        let transport = meter.figures().transport
        #expect(transport.motion == .playing)
        #expect(transport.songBeat == 5)
        #expect(
            transport.newest == [
                .init(kind: .songPosition, second: 0.95, position: 16), .init(kind: .continue, second: 0.955),
            ])
        #expect(transport.messages == 2)
    }

    @Test func `messages from before the last update keep their stamps`() throws {
        var meter = ClockMeter(start: HostTime(microseconds: 0))
        for number in Int64(0)..<960 {
            let time = number * 20_000
            // An update came just before this tick was read.
            meter.timePassed(to: HostTime(microseconds: time + (number % 7 == 0 ? 60_000 : 500)))
            meter.received(.timingClock, at: HostTime(microseconds: time))
        }
        let figures = meter.figures()
        #expect(figures.ticks == .init(received: 960, measured: 960))
        #expect(try #require(figures.jitter).timeIntervalErrorMicroseconds.max < 0.1)
        #expect(figures.silences.count == 0)
    }

    @Test func `a clock that stops is lost, and one that never came is waited for`() {
        var meter = ClockMeter(start: HostTime(microseconds: 0))
        meter.timePassed(to: HostTime(microseconds: 2_000_000))
        #expect(meter.figures().state == .waiting)
        #expect(meter.figures().seconds == 2)
        #expect(meter.figures().tempo == nil && meter.figures().jitter == nil)
        meter.play(count: 200, after: 0) { _ in 120 }
        #expect(meter.figures().state == .locked)
        meter.timePassed(to: HostTime(microseconds: 20_000_000))
        #expect(meter.figures().state == .lost)
    }
}

extension ClockFigures.Ticks {
    init(received: Int, lost: Int = 0, doubled: Int = 0, measured: Int) {
        self.init(
            received: received, lost: lost, doubled: doubled, measured: measured, refused: 0, overflows: 0)
    }
}
