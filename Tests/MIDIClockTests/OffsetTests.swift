import BeatTime
import MIDIClock
import Simulation
import Testing

/// The effect of an output's offset, from the smallest step to the largest useful value.
@Suite
struct OffsetTests {
    @Test(arguments: [20, 97.3, 120, 133.7, 300, 999])
    func `any offset within 50 ms, in tenths of a millisecond, is exact to a hundredth`(
        beatsPerMinute: Double
    ) {
        let line = line(beatsPerMinute: beatsPerMinute)
        for tenths in Int64(-500)...500 {
            var settings = OutputSettings()
            settings.offset = tenths * 100
            var planner = TickPlanner()
            var now = HostTime(microseconds: 1_000_000)
            let plan = OutputPlan(transport: .stopped, settings: settings)
            for _ in 0..<8 {
                guard let planned = planner.next(plan, on: TempoMap(line), at: now) else { break }
                now = planned.due
                planner.sent(planned, at: now)
                let exact = Double(planned.place.tick) * Double(line.microsecondsPerBeat) / 24 + Double(tenths) * 100
                #expect(abs(Double(now.microseconds) - exact) <= 10)
            }
        }
    }

    @Test(arguments: Seeds.standing(1...40))
    func `an offset edited repeatedly while playing slews, and no tick is bunched or lost`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let line = line(beatsPerMinute: Double.random(in: 20...999, using: &random))
        let most = line.tickLength / 4
        var device = DeviceUnderClock(now: 1)
        var score = playing(line, from: 24)
        device.run(score, until: 2_000_000)
        for _ in 0..<40 {
            score.plan.settings.offset = Int64.random(in: -most...most, using: &random)
            device.run(score, until: device.now + Int64.random(in: 1_000...1_500_000, using: &random))
        }
        // The largest correction, at half a percent at most, is complete after twenty of its time constants.
        device.run(score, until: device.now + 3_000_000 + 1_500 * 2 * most)
        let gap = Double(line.microsecondsPerBeat) / 24
        let gaps = zip(device.ticks, device.ticks.dropFirst()).map { Double($1 - $0) }
        #expect(gaps.allSatisfy { abs($0 - gap) <= gap * 0.005 + 2 }, "seed \(seed)")
        #expect(device.transport == [.start])
        let last = Int64(device.ticks.count)
        #expect(device.ticks.last == line.time(ofTick: last).microseconds + score.plan.settings.offset)
    }
}
