import BeatTime
import MIDIClock
import Simulation
import Testing

@testable import ClockMeter

/// Input that no real clock sends.
@Suite
struct HostileClockTests {
    @Test(arguments: Seeds.standing(1...8))
    func `with any input figures stay numbers and lists stay short`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var meter = ClockMeter(start: HostTime(microseconds: 1_000_000))
        var time: Int64 = 1_000_000
        for step in 0..<6_000 {
            switch Int.random(in: 0..<40, using: &random) {
            case 0: time = Int64.random(in: .min ... .max, using: &random)
            case 1: time = Int64.random(in: 0..<(1 << 53), using: &random)
            case 2: time &+= Int64.random(in: -20_000_000...20_000_000, using: &random)
            case 3: meter.messagesLost()
            case 4: meter.timePassed(to: HostTime(microseconds: time &+ 1_000_000))
            default: time &+= Int64.random(in: 0...30_000, using: &random)
            }
            let messages: [ClockMessage] = [.start, .stop, .continue, .songPosition(.max), .songPosition(0)]
            let other = messages.randomElement(using: &random) ?? .stop
            meter.received(random.chance(0.9) ? .timingClock : other, at: HostTime(microseconds: time))
            if step % 500 == 0 { check(meter.figures()) }
        }
        check(meter.figures(nominal: 0))
        check(meter.figures(nominal: 120))
    }

    @Test func `a flood and a trickle both leave lists short`() {
        var meter = ClockMeter(start: HostTime(microseconds: 0))
        for number in Int64(0)..<20_000 { meter.received(.timingClock, at: HostTime(microseconds: number)) }
        for number in Int64(1)..<4_000 {
            meter.received(.timingClock, at: HostTime(microseconds: number * 3_600_000_000))
            meter.received(.start, at: HostTime(microseconds: number * 3_600_000_000))
        }
        let figures = meter.figures()
        check(figures)
        #expect(figures.transport.messages == 3_999)
    }

    @Test func `stamps slightly back belong to the same clock, far back to another`() {
        var meter = ClockMeter(start: HostTime(microseconds: 0))
        for number in Int64(0)..<500 {
            meter.received(.timingClock, at: HostTime(microseconds: 90_000_000 + number * 20_000))
            meter.received(.start, at: HostTime(microseconds: 90_000_000 + number * 20_000 - 3))
        }
        #expect(meter.figures().ticks.refused == 0)
        for number in Int64(0)..<500 { meter.received(.timingClock, at: HostTime(microseconds: number * 20_000)) }
        let figures = meter.figures()
        #expect(figures.ticks.refused == 1)
        #expect(figures.ticks.received == 1_000)
        #expect(figures.ticks.lost == 0)
        #expect(figures.state == .locked)
    }

    private func check(_ figures: ClockFigures) {
        #expect(figures.trace.count <= 512)
        #expect(figures.histogram.count <= 48)
        #expect(figures.transport.newest.count <= 64)
        let jitter = figures.jitter
        let numbers = [
            figures.seconds, figures.silences.longestSeconds, figures.tempo?.beatsPerMinute, figures.tempo?.deviation,
            figures.tempo?.slowest, figures.tempo?.fastest, figures.tempo?.drift?.partsPerMillion,
            jitter?.timeIntervalErrorMicroseconds.deviation, jitter?.timeIntervalErrorMicroseconds.max,
            jitter?.intervalMicroseconds.deviation, jitter?.cycleToCycleMicroseconds.rms,
        ].compactMap(\.self)
        #expect(numbers.allSatisfy { $0.isFinite })
        #expect(figures.trace.allSatisfy { $0.leastMicroseconds <= $0.greatestMicroseconds })
    }
}
