import BeatTime
import MIDIClock
import Simulation
import Testing

/// A device whose clock must never step: whatever the grid does, its ticks continue evenly.
@Suite
struct LooperTests {
    private static var looper: OutputSettings {
        var settings = OutputSettings()
        settings.mayStep = false
        return settings
    }

    @Test(arguments: Seeds.standing(1...30))
    func `steps of the grid are followed by slewing to the nearest tick, at no more than half a percent`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let beatsPerMinute = Double.random(in: 20...999, using: &random)
        var settings = Self.looper
        settings.offset = Int64.random(in: -50_000...50_000, using: &random)
        (settings.multiply, settings.divide) = [(1, 1), (2, 1), (1, 2), (1, 6)][Int(seed % 4)]
        var device = DeviceUnderClock(now: 1)
        var score = playing(line(beatsPerMinute: beatsPerMinute), from: 24, settings)
        if seed % 5 == 0 { score.plan.transport = .stopped }
        let line = score.map.line
        device.run(score, until: line.time(ofTick: 100).microseconds)
        for _ in 0..<5 {
            let moved = Int64.random(in: -3_000_000...3_000_000, using: &random)
            score.map.step(to: line.moved(byMicroseconds: moved))
            device.run(score, until: device.now + Int64.random(in: 1...4_000_000, using: &random))
        }
        let gap = Double(line.microsecondsPerBeat * settings.divide) / Double(24 * settings.multiply)
        // At most half a gap is left to slew; seven of its time constants complete 99 percent of it.
        device.run(score, until: device.now + 3_000_000 + Int64(gap * 0.5 / (2.718 * 0.005) * 20))
        let gaps = zip(device.ticks, device.ticks.dropFirst()).map { Double($1 - $0) }
        #expect(
            gaps.allSatisfy { abs($0 - gap) <= gap * 0.005 + 2 },
            "\(gap): \(gaps.filter { abs($0 - gap) > gap * 0.005 + 2 })")
        #expect(device.transport == (seed % 5 == 0 ? [] : [.start]))
        let last = device.ticks[device.ticks.count - 1] - settings.offset
        let tick = score.map.line.nearestTick(to: HostTime(microseconds: last))
        guard settings.multiply == 1 else { return }
        #expect(abs(score.map.time(ofTick: tick).microseconds - last) <= 2)
        if seed % 5 != 0 { #expect((tick - 24) % settings.divide == 0) }
    }

    @Test
    func `another session's tempo is adopted at once, its ticks by slewing`() throws {
        var device = DeviceUnderClock(now: 1)
        var score = playing(line(beatsPerMinute: 120), from: 24, Self.looper)
        device.run(score, until: 3_000_001)
        let before = device.ticks.count
        score.map.step(to: line(beatsPerMinute: 90, timeOrigin: 123_456, tickOrigin: 37))
        score.plan.transport.startTick = -600
        device.run(score, until: 30_000_000)
        #expect(device.transport == [.start])
        let gaps = zip(device.ticks[before...], device.ticks[(before + 1)...]).map { Double($1 - $0) }
        let gap = 60e6 / 90 / 24
        #expect(gaps.allSatisfy { abs($0 - gap) <= gap * 0.005 + 2 })
        #expect(device.ticks[before] - device.ticks[before - 1] <= 20_834)
        let last = HostTime(microseconds: try #require(device.ticks.last))
        #expect(score.map.time(ofTick: score.map.nearestTick(to: last)) == last)
    }

    @Test(arguments: [-200_000, -11_000, 60_000, 200_000] as [Int64])
    func `an edited offset is followed by slewing, whatever its size`(offset: Int64) {
        var device = DeviceUnderClock(now: 1)
        var score = playing(line(beatsPerMinute: 120), from: 24, Self.looper)
        device.run(score, until: 3_000_000)
        score.plan.settings.offset = offset
        device.run(score, until: 40_000_000)
        let gaps = zip(device.ticks, device.ticks.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { abs($0 - 20_833) <= 106 })
        #expect(device.transport == [.start])
        let tick = score.map.line.nearestTick(to: HostTime(microseconds: device.ticks[device.ticks.count - 1] - offset))
        #expect(device.ticks.last == score.map.time(ofTick: tick).microseconds + offset)
    }

    @Test
    func `the next song starts at its beginning, and a realignment restores the place in this one`() {
        var device = DeviceUnderClock(now: 1)
        var score = playing(line(beatsPerMinute: 120), from: 24, Self.looper)
        device.run(score, until: 3_000_000)
        score.map.step(to: line(beatsPerMinute: 120, timeOrigin: 700_000))
        device.run(score, until: 10_000_000)
        #expect(device.transport == [.start])
        #expect(device.misplacementByEar(in: score) != nil)
        device.planner.realign(.atBar)
        device.run(score, until: 15_000_000)
        #expect(device.misplacementByEar(in: score) == nil)
        score.plan.transport.isPlaying = false
        device.run(score, until: 15_500_000)
        let top = score.map.line.nearestTick(to: HostTime(microseconds: 16_000_000))
        score.plan.transport = PlannedTransport(isPlaying: true, startTick: top, ticksPerBar: 96)
        device.run(score, until: 17_000_000)
        #expect(device.transport == [.start, .stop, device.transport[2], .continue, .stop, .start])
        #expect(device.misplacementByEar(in: score) == nil)
    }
}

extension TickLine {
    /// The same ticks, elsewhere in time.
    fileprivate func moved(byMicroseconds microseconds: Int64) -> TickLine {
        var moved = self
        moved.timeOrigin = timeOrigin.advanced(byMicroseconds: microseconds)
        return moved
    }
}
