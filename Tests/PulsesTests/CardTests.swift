import BeatTime
import CardClock
import MIDIClock
import Simulation
import Testing

@testable import Pulses

/// Pulses out of simulated cards that are not as fast as they say, for hours.
@Suite
struct CardTests {
    /// A card whose thread writes ahead, and what is heard of the first line.
    private struct Rig {
        var card: VirtualCard
        var clock: CardClock
        var stream: PulseStream
        var now = 5_000_000.0
        /// The next frame to write.
        var written: Int
        /// When the line has gone on, in microseconds.
        var rises: [Double] = []
        /// Length of a block in frames; two are written ahead.
        var block = 480

        init(_ settings: PulseSettings, _ card: VirtualCard) {
            self.card = card
            stream = PulseStream(settings)
            let report = self.card.report(at: now)
            clock = CardClock(sampleRate: card.sampleRate, frames: report.frames, at: report.at)
            written = report.frames
        }

        mutating func run(_ score: Score, seconds: Double) {
            let end = now + seconds * 1e6
            while now < end {
                let report = card.report(at: now)
                clock.add(frames: report.frames, at: report.at)
                while written < report.frames + 2 * block { write(score) }
                now += Double(block) / card.sampleRate * 0.5e6 + card.lateness()
            }
        }

        private mutating func write(_ score: Score) {
            let (begin, end) = (time(written), time(written + block))
            while let edge = stream.next(score.plan, on: score.map, from: begin, until: end) {
                guard edge.line == 0, edge.level == 1 else { continue }
                let frame = max(Double(written), clock.frame(at: Double(edge.time.microseconds)))
                rises.append(card.time(ofFrame: frame))
            }
            written += block
        }

        private func time(_ frame: Int) -> HostTime {
            HostTime(microseconds: Int64(clock.time(ofFrame: Double(frame)).rounded(.up)))
        }

        /// The card has played all that is written, and is started again after a time, in microseconds.
        mutating func underrun(_ microseconds: Double) {
            now = card.time(ofFrame: Double(written)) + microseconds
            card.stall(microseconds)
            let report = card.report(at: now)
            clock.restart(frames: report.frames, at: report.at)
            stream.fellSilent()
        }
    }

    /// Of pulses at regular times, the farthest from their best straight line, and how many are lost or doubled.
    private func check(_ rises: [Double], interval: Double) -> (farthest: Double, isWhole: Bool) {
        let fit = LineFit(rises.enumerated().map { (x: Double($0.offset), y: $0.element) })
        let farthest = rises.enumerated().reduce(0) { max($0, abs($1.element - fit.value(at: Double($1.offset)))) }
        let gaps = zip(rises, rises.dropFirst()).map { $1 - $0 }
        return (farthest, gaps.allSatisfy { abs($0 - interval) < 300 })
    }

    @Test(arguments: [100.0, -100, 1_000], [(step: 192, delay: 0.0), (step: 1, delay: 1_000)])
    func `for an hour after the first minute each pulse is near a straight line`(
        partsPerMillion: Double, driver: (step: Int, delay: Double)
    ) {
        let card = VirtualCard(
            partsPerMillion: partsPerMillion, step: driver.step, delay: driver.delay, random: SeededGenerator(seed: 3))
        var rig = Rig(.clock(.perBeat(24), .percent(50)), card)
        let score = Score(line(120))
        rig.block = 960
        rig.run(score, seconds: 60)
        rig.rises = []
        rig.run(score, seconds: 3_600)
        #expect(abs(rig.rises.count - 3_600 * 48) <= 2)
        let (farthest, isWhole) = check(rig.rises, interval: 1e6 / 48)
        #expect(farthest < 150, "\(farthest) us")
        #expect(isWhole)
        // Beside a MIDI output, which is on time.
        let apart = rig.rises.map { $0 - ($0 * 48 / 1e6).rounded() / 48 * 1e6 }
        #expect((apart.max() ?? 1e6) - (apart.min() ?? 0) < 200)
    }

    @Test(arguments: [1_000.0])
    func `for a day each pulse is near a straight line`(partsPerMillion: Double) {
        let card = VirtualCard(partsPerMillion: partsPerMillion, step: 192, random: SeededGenerator(seed: 4))
        var rig = Rig(.clock(.perBeat(2), .percent(50)), card)
        rig.block = 1_920
        let score = Score(line(120))
        rig.run(score, seconds: 60)
        rig.rises = []
        rig.run(score, seconds: 86_400)
        #expect(abs(rig.rises.count - 86_400 * 4) <= 2)
        let (farthest, isWhole) = check(rig.rises, interval: 250_000)
        #expect(farthest < 150, "\(farthest) us")
        #expect(isWhole)
    }

    @Test(arguments: [100.0, -100, 1_000])
    func `after an underrun of 50 ms each pulse is in its place within 0.2 s`(partsPerMillion: Double) {
        let card = VirtualCard(partsPerMillion: partsPerMillion, step: 192, random: SeededGenerator(seed: 5))
        var rig = Rig(.clock(.perBeat(24), .percent(50)), card)
        let score = Score(line(120))
        for _ in 0..<20 {
            rig.run(score, seconds: 20)
            let before = rig.rises.count
            rig.underrun(50_000)
            let restart = rig.now
            rig.run(score, seconds: 3)
            let placed = rig.rises[before...].filter { $0 > restart + 200_000 }
            let apart = placed.map { abs($0 - ($0 * 48 / 1e6).rounded() / 48 * 1e6) }
            #expect((apart.max() ?? 1e6) < 1_000)
            #expect(abs(placed.count - Int((rig.now - restart - 200_000) * 48 / 1e6)) <= 2)
        }
        // Nothing is lost in the end.
        let first = (rig.rises[0] * 48 / 1e6).rounded()
        let last = ((rig.rises.last ?? 0) * 48 / 1e6).rounded()
        #expect(Double(rig.rises.count - 1) == last - first)
    }
}
