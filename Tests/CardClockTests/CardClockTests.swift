import Simulation
import Testing

@testable import CardClock

/// How well the card's clock is known from reports that are late.
@Suite
struct CardClockTests {
    /// A card's rate, and how its driver reports.
    struct Kind: Sendable, CustomTestStringConvertible {
        var partsPerMillion: Double
        /// The number of frames grows in such steps.
        var step: Int
        /// Random delay of a report, in microseconds.
        var delay: Double
        var testDescription: String { "\(partsPerMillion) ppm, steps of \(step) frames, \(delay) us" }
    }

    static let kinds = [-1_000.0, -100, 0, 100, 1_000].flatMap { rate in
        [(1, 0.0), (192, 0.0), (1, 1_000.0), (192, 1_000.0)].map {
            Kind(partsPerMillion: rate, step: $0.0, delay: $0.1)
        }
    }

    private struct Rig {
        var card: VirtualCard
        var clock: CardClock
        var now = 5_000_000.0

        init(_ kind: Kind) {
            card = VirtualCard(
                partsPerMillion: kind.partsPerMillion, step: kind.step, delay: kind.delay,
                random: SeededGenerator(seed: 7))
            let report = card.report(at: now)
            clock = CardClock(sampleRate: card.sampleRate, frames: report.frames, at: report.at)
        }

        /// Reports every 5 ms or so.
        ///
        /// - Returns: the smallest and largest error of the time of the frame 20 ms ahead, in microseconds; positive is
        ///   too late.
        mutating func run(seconds: Double) -> ClosedRange<Double> {
            let end = now + seconds * 1e6
            var errors: [Double] = []
            while now < end {
                now += 5_000 + card.lateness() / 10
                let report = card.report(at: now)
                clock.add(frames: report.frames, at: report.at)
                let frame = Double(report.frames + 960)
                errors.append(clock.time(ofFrame: frame) - card.time(ofFrame: frame))
            }
            return (errors.min() ?? 0)...(errors.max() ?? 0)
        }
    }

    @Test(arguments: kinds)
    func `after a minute the time of a frame is known, but for what the best reports are late`(kind: Kind) {
        var rig = Rig(kind)
        _ = rig.run(seconds: 60)
        let errors = rig.run(seconds: 600)
        #expect(errors.upperBound - errors.lowerBound < 150)
        #expect(errors.lowerBound > -50 && errors.upperBound < 600)
    }

    @Test(arguments: kinds)
    func `the rate is known after a minute, and how well`(kind: Kind) {
        var rig = Rig(kind)
        _ = rig.run(seconds: 60)
        #expect(abs(rig.clock.partsPerMillion - kind.partsPerMillion) < max(0.05, 4 * rig.clock.rateError))
        #expect(rig.clock.rateError < 2)
    }

    @Test
    func `at first the nominal rate counts, and nobody knows how well`() {
        let clock = CardClock(sampleRate: 48_000, frames: 100, at: 1_000)
        #expect(clock.time(ofFrame: 148) == 2_000)
        #expect(clock.partsPerMillion == 0)
        #expect(clock.rateError == .infinity)
    }

    @Test(arguments: kinds)
    func `a frame and its time belong together`(kind: Kind) {
        var rig = Rig(kind)
        _ = rig.run(seconds: 10)
        for frame in [0, 12_345.25, 1e9] {
            #expect(abs(rig.clock.frame(at: rig.clock.time(ofFrame: frame)) - frame) < 1e-6)
        }
    }

    @Test(arguments: kinds)
    func `a card that stood still is as fast as before, and soon known again`(kind: Kind) {
        var rig = Rig(kind)
        _ = rig.run(seconds: 60)
        let rate = rig.clock.partsPerMillion
        rig.card.stall(50_000)
        rig.now += 50_000
        let report = rig.card.report(at: rig.now)
        rig.clock.restart(frames: report.frames, at: report.at)
        #expect(rig.clock.partsPerMillion == rate)
        _ = rig.run(seconds: 0.15)
        let errors = rig.run(seconds: 60)
        #expect(errors.lowerBound > -100 && errors.upperBound < 1_500)
    }
}
