import BeatTime
import MIDIClock
import Simulation
import Testing

/// A device that rests in a part of the song: muted, or entering later than the others.
@Suite
struct RestTests {
    private let line = MIDIClockTests.line(beatsPerMinute: 120)

    private func time(ofTick tick: Int64) -> Int64 { line.time(ofTick: tick).microseconds }

    @Test
    func `it stops before the first tick of its rest, and enters at the bar after it, in its place`() throws {
        var device = DeviceUnderClock()
        var score = playing(line, from: 96)
        device.run(score, until: time(ofTick: 96 * 3))
        score.plan.rest = Rest(from: 96 * 4, until: .max)
        device.run(score, until: time(ofTick: 96 * 7 + 50))
        let stop = try #require(device.events.last { $0.message == .stop })
        #expect((time(ofTick: 96 * 5 - 1)..<time(ofTick: 96 * 5)).contains(stop.at))
        score.plan.rest.until = 96 * 8
        device.run(score, until: time(ofTick: 96 * 12))
        #expect(device.transport == [.start, .stop, .songPosition(16 * 8), .continue])
        let entry = try #require(device.events.last { $0.message == .continue })
        #expect((time(ofTick: 96 * 9 - 1)..<time(ofTick: 96 * 9)).contains(entry.at))
        #expect(device.misplacementByEar(in: score) == nil)
        // Its clock has gone on.
        #expect(device.places.map(\.tick) == Array(0..<Int64(96 * 12)))
    }

    @Test
    func `a device that rests from the beginning enters at the bar that is asked for`() throws {
        var settings = OutputSettings()
        settings.takesSongPosition = false
        settings.realign = .restart
        var device = DeviceUnderClock()
        var score = playing(line, from: 96, settings)
        score.plan.rest = .all
        device.run(score, until: time(ofTick: 96 * 2))
        #expect(device.transport.isEmpty)
        score.plan.rest.until = 96 * 4
        device.run(score, until: time(ofTick: 96 * 7))
        #expect(device.transport == [.start])
        let entry = try #require(device.events.last { $0.message == .start })
        #expect((time(ofTick: 96 * 5 - 1)..<time(ofTick: 96 * 5)).contains(entry.at))
    }

    @Test
    func `an entry that is moved to another bar is made there, and only there`() throws {
        for (first, second) in [(Int64(9), Int64(6)), (6, 9)] {
            var device = DeviceUnderClock()
            var score = playing(line, from: 96)
            score.plan.rest = Rest(from: .min, until: 96 * first)
            device.run(score, until: time(ofTick: 96 * 4 + 48))
            score.plan.rest.until = 96 * second
            device.run(score, until: time(ofTick: 96 * 12))
            #expect(device.transport == [.songPosition(UInt16(16 * second)), .continue])
        }
        // Also if it was about to play from the beginning.
        var device = DeviceUnderClock()
        var score = playing(line, from: 960)
        device.run(score, until: time(ofTick: 900))
        score.plan.rest = Rest(from: .min, until: 96 * 8)
        device.run(score, until: time(ofTick: 960 + 96 * 10))
        #expect(device.transport == [.songPosition(16 * 8), .continue])
    }

    @Test(arguments: Seeds.standing(1...24))
    func `any profile is back in its place after any rest`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let line = MIDIClockTests.line(beatsPerMinute: Double.random(in: 40...300, using: &random))
        var settings = OutputSettings.randomProfile(using: &random)
        (settings.mayStep, settings.tempos) = (true, .all)
        var device = DeviceUnderClock()
        var score = playing(line, from: 96, settings)
        for _ in 0..<8 {
            let song = (device.now - line.time(ofTick: 96).microseconds) / line.tickLength
            let bar = (song / 96 + Int64.random(in: 1...3, using: &random)) * 96
            score.plan.rest = Rest(from: bar, until: .max)
            device.run(score, until: device.now + Int64.random(in: 0...20_000_000, using: &random))
            let later = (device.now - line.time(ofTick: 96).microseconds) / line.tickLength
            score.plan.rest.until = (later / 96 + Int64.random(in: 2...4, using: &random)) * 96
            device.run(score, until: device.now + Int64.random(in: 0...20_000_000, using: &random))
        }
        device.run(score, until: device.now + 80_000_000)
        #expect(device.messagesOutOfOrder(settings).isEmpty, "seed \(seed)")
        guard settings.isPlaceable else { return }
        #expect(device.misplacementByEar(in: score) == nil, "seed \(seed): \(settings)")
    }
}
