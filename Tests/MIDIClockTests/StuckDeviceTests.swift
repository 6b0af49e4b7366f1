import BeatTime
import Simulation
import Testing

@testable import MIDIClock

/// Devices that accept nothing for a while.
@Suite
struct StuckDeviceTests {
    /// What a device gets once it accepts messages again: S is Start, C Continue, P Song Position, X Stop.
    @Test(arguments: [
        // Stuck while the song plays, starts, stops, and while nothing plays.
        (true, true, "XPC"), (false, true, "XPC"), (true, false, "X"), (false, false, ""),
    ])
    func `a device that was stuck is sent what it missed`(before: Bool, after: Bool, told: String) {
        var device = DeviceUnderClock(now: 1)
        var score = before ? playing(line(beatsPerMinute: 120), from: 24) : stopped(line(beatsPerMinute: 120))
        device.run(score, until: 3_000_000)
        device.isStuck = true
        device.run(score, until: 4_000_000)
        let heard = device.transport.count
        score = after ? playing(line(beatsPerMinute: 120), from: before ? 24 : 216) : stopped(line(beatsPerMinute: 120))
        device.run(score, until: 6_000_000)
        #expect(device.transport.count == heard)
        #expect(device.planner.syncState == (told.isEmpty ? .inSync : .outOfSync))
        device.isStuck = false
        device.run(score, until: 9_000_000)
        #expect(device.transport.dropFirst(heard).map(\.letter).joined() == told)
        #expect(device.planner.syncState == .inSync)
        if after { #expect(device.misplacement(in: score) == nil) }
    }

    @Test
    func `a device that gets only the clock is sent nothing but the clock`() {
        var device = DeviceUnderClock(now: 1)
        var settings = OutputSettings()
        settings.start = .none
        let score = playing(line(beatsPerMinute: 120), from: 24, settings)
        device.run(score, until: 3_000_000)
        device.isStuck = true
        device.run(score, until: 4_000_000)
        device.isStuck = false
        device.run(score, until: 9_000_000)
        #expect(device.transport.isEmpty && device.planner.syncState == .inSync)
    }

    @Test(arguments: Seeds.standing(1...24))
    func `whatever messages a device refuses, it ends up where the song is`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var device = DeviceUnderClock(now: 1)
        var score = stopped(line(beatsPerMinute: 120))
        score.plan.settings = .random(using: &random)
        score.plan.settings.realign = .songPosition
        score.plan.transport.ticksPerBar = 96
        for _ in 0..<40 {
            device.run(score, until: device.now + .random(in: 1...900_000, using: &random))
            device.isStuck.toggle()
            guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
            score.plan.transport.isPlaying.toggle()
            score.plan.transport.startTick = device.now * 24 / 500_000 + .random(in: 0...100, using: &random)
        }
        device.isStuck = false
        score.plan.transport.isPlaying = true
        device.run(score, until: device.now + 30_000_000)
        #expect(device.planner.syncState == .inSync)
        #expect(device.misplacement(in: score) == nil, "seed \(seed): \(score.plan.settings)")
        score.plan.transport.isPlaying = false
        device.run(score, until: device.now + 3_000_000)
        #expect(!device.isPlaying || !score.plan.settings.sendsStop)
    }
}
