import BeatTime
import MIDIClock
import Simulation
import Testing

/// A device that somebody holds off its tempo for a while.
@Suite
struct BendTests {
    private let line = MIDIClockTests.line(beatsPerMinute: 120)

    /// How late the last tick was, in microseconds.
    private func lateness(_ device: DeviceUnderClock, offset: Int64 = 0) throws -> Int64 {
        let place = try #require(device.places.last)
        return try #require(device.ticks.last) - line.time(ofTick: place.tick).microseconds - offset
    }

    @Test(arguments: [-80_000, -25_000, 40_000, 80_000], [-500_000, 0, 120_000])
    func `it runs at the rate that is held, and returns to its place as fast`(
        rate: Int64, offset: Int64
    ) throws {
        var settings = OutputSettings()
        settings.offset = offset
        var device = DeviceUnderClock()
        var score = playing(line, from: 96, settings)
        device.run(score, until: 4_000_000)
        score.plan.bend = rate
        device.run(score, until: 6_000_000)
        let gaps = zip(device.ticks.suffix(20).dropFirst(), device.ticks.suffix(20)).map(-)
        let wanted = Double(line.tickLength) / (1 + Double(rate) / 1_000_000)
        #expect(gaps.allSatisfy { abs(Double($0) - wanted) < 20 }, "\(gaps)")
        let reached = try lateness(device, offset: offset)
        // Two seconds at that rate; faster is earlier.
        let expected = Double(-2 * rate)
        #expect(abs(Double(reached) - expected) < 0.1 * abs(expected), "\(reached)")
        score.plan.bend = 0
        device.run(score, until: 9_000_000)
        #expect(abs(try lateness(device, offset: offset)) < 20)
        #expect(device.places.map(\.tick) == Array(0..<Int64(device.places.count)).map { $0 + device.places[0].tick })
        #expect(device.transport == [.start])
    }

    @Test
    func `it goes half a second at most, however long it is held`() throws {
        for rate in [Int64(-80_000), 80_000] {
            var device = DeviceUnderClock()
            var score = playing(line, from: 96)
            device.run(score, until: 4_000_000)
            score.plan.bend = rate
            device.run(score, until: 30_000_000)
            #expect(abs(abs(try lateness(device)) - Bend.farthest) < 20)
            score.plan.bend = 0
            device.run(score, until: 45_000_000)
            #expect(abs(try lateness(device)) < 20)
        }
    }

    @Test(arguments: Seeds.standing(1...24))
    func `any profile is back in its place after any bends`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let line = MIDIClockTests.line(beatsPerMinute: Double.random(in: 40...300, using: &random))
        var settings = OutputSettings.randomProfile(using: &random)
        settings.tempos = .all
        var device = DeviceUnderClock()
        var score = playing(line, from: 96, settings)
        for _ in 0..<12 {
            score.plan.bend = Int64.random(in: Bend.rates, using: &random)
            device.run(score, until: device.now + Int64.random(in: 0...3_000_000, using: &random))
            if random.chance(0.5) { score.plan.bend = 0 }
            device.run(score, until: device.now + Int64.random(in: 0...3_000_000, using: &random))
        }
        score.plan.bend = 0
        device.run(score, until: device.now + 80_000_000)
        #expect(device.messagesOutOfOrder(settings).isEmpty, "seed \(seed)")
        guard settings.isPlaceable else { return }
        #expect(device.misplacementByEar(in: score) == nil, "seed \(seed): \(settings)")
    }

    @Test
    func `turned at any time, pulses go on without a jump`() {
        var random = SeededGenerator(seed: 5)
        var bend = Bend()
        var now = HostTime(microseconds: 0)
        for _ in 0..<1_000 {
            let before = bend.shift(at: now)
            bend.turn(to: Int64.random(in: -100_000...100_000, using: &random), at: now)
            #expect(bend.shift(at: now) == before)
            now = now.advanced(byMicroseconds: Int64.random(in: 0...4_000_000, using: &random))
        }
        bend.turn(to: 0, at: now)
        #expect(bend.shift(at: HostTime(microseconds: .max)) == 0)
    }
}
