import BeatTime
import Simulation
import Testing

@testable import MIDIClock

/// Whatever happens to an output, its device ends up where the song is.
@Suite
struct SettlingTests {
    @Test(arguments: Seeds.standing(1...24))
    func `any settings, edits, tempos, steps and stalls leave the device where the plan says`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var device = DeviceUnderClock(now: 1)
        var score = stopped(line(beatsPerMinute: Double.random(in: 20...999, using: &random)))
        score.plan.settings = .random(using: &random)
        score.plan.transport.ticksPerBar = [24, 72, 96, 168].randomElement(using: &random) ?? 96
        let longestStall: Int64 = Bool.random(using: &random) ? 1_500 : 60_000
        for _ in 0..<50 {
            let end = device.now + Int64.random(in: 1...900_000, using: &random)
            while device.now < end {
                device.run(score, until: min(end, device.now + Int64.random(in: 100...20_000, using: &random)))
                if Int.random(in: 0..<10, using: &random) == 0 {
                    device.now += Int64.random(in: 0...longestStall, using: &random)
                }
            }
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                switch Int.random(in: 0..<10, using: &random) {
                case 0: score.plan.settings.multiply = [1, 2, 3, 4, 8, 16].randomElement(using: &random) ?? 1
                case 1: score.plan.settings.divide = [1, 2, 3, 4, 6, 8, 12, 24].randomElement(using: &random) ?? 1
                case 2: device.planner.realign(Bool.random(using: &random) ? .atBar : .now)
                default: score.disturb(at: device.now, using: &random)
                }
            }
        }
        score.plan.transport.isPlaying = true
        let start = score.map.time(ofTick: score.plan.transport.startTick).microseconds
        device.run(score, until: max(device.now, start) + 40_000_000)
        #expect(device.misplacement(in: score) == nil, "seed \(seed): \(score.plan.settings)")
    }

    @Test(arguments: [2, 4, 8, 16] as [Int64])
    func `a Start costs a running multiplied clock no pulse`(multiply: Int64) {
        let line = line(beatsPerMinute: 60)
        let settings = OutputSettings(multiply: multiply)
        for step in Int64(0)..<20 {
            var device = DeviceUnderClock(now: 1)
            device.run(stopped(line, settings), until: 1_000_000 + step * 2_111)
            device.run(playing(line, from: 96, settings), until: 5_000_000)
            let gaps = zip(device.ticks, device.ticks.dropFirst()).map { $1 - $0 }
            #expect(gaps.allSatisfy { $0 <= 1_000_000 / 24 / multiply + 2 })
        }
    }

    @Test
    func `an edited swing costs a multiplied output no pulse`() {
        for step in Int64(0)..<20 {
            var device = DeviceUnderClock(now: 1)
            var score = playing(line(beatsPerMinute: 120), from: 24, OutputSettings(multiply: 2))
            device.run(score, until: 2_000_000 + step * 2_111)
            score.plan.settings.swing = 610
            device.run(score, until: 12_000_000)
            #expect(device.misplacement(in: score) == nil)
            #expect(device.transport == [.start])
        }
    }

    @Test
    func `a divider changed repeatedly is right at the next bar`() {
        var device = DeviceUnderClock(now: 1)
        var score = playing(line(beatsPerMinute: 120), from: 24)
        device.run(score, until: 60_000_000)
        for divide in [2, 3, 4] as [Int64] {
            score.plan.settings.divide = divide
            device.run(score, until: device.now + 300_000)
        }
        device.run(score, until: device.now + 4_500_000)
        #expect(device.misplacement(in: score) == nil)
    }

    @Test(arguments: [5, 7, 13, 95, 96] as [Int64])
    func `a device with divided pulses joins at its first sixteenth after a bar`(divide: Int64) {
        var device = DeviceUnderClock(now: 10_000_001)
        let score = playing(line(beatsPerMinute: 120), from: 24, OutputSettings(divide: divide))
        device.planner.deviceConnected(isReturning: false)
        let sixteenth = divide * 6 * 500_000 / 24
        device.run(score, until: device.now + 2 * 2_000_000 + sixteenth)
        #expect(device.isPlaying)
        #expect(device.misplacement(in: score) == nil)
    }

    @Test
    func `a correction of the clock does not stop a device while a change of tempo is spread`() {
        var device = DeviceUnderClock(now: 1)
        var score = playing(line(beatsPerMinute: 120), from: 24, OutputSettings(smoothing: 500_000))
        device.run(score, until: 2_000_000)
        score.map.changeTempo(
            to: line(beatsPerMinute: 140, timeOrigin: 2_000_000, tickOrigin: 96), at: HostTime(microseconds: 2_000_000))
        device.run(score, until: 2_400_000)
        score.map.slew(byMicroseconds: 5)
        device.run(score, until: 5_000_000)
        #expect(device.transport == [.start])
    }

    @Test(arguments: [0.81, 1.24])
    func `a tempo changed repeatedly with smoothing never makes time run backwards`(ratio: Double) {
        var device = DeviceUnderClock(now: 1)
        let start = ratio < 1 ? 400.0 : 30
        var score = playing(line(beatsPerMinute: start), from: 24, OutputSettings(smoothing: 500_000))
        device.run(score, until: 4_000_000)
        var beatsPerMinute = start
        for _ in 0..<14 {
            beatsPerMinute *= ratio
            score.changeTempo(to: beatsPerMinute, at: device.now)
            device.run(score, until: device.now + 20_000)
        }
        device.run(score, until: device.now + 40_000_000)
        #expect(device.transport == [.start])
        #expect(device.misplacement(in: score) == nil)
        let gaps = zip(device.ticks, device.ticks.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { $0 > 2_000 })
    }

    @Test
    func `a stall during the pre-roll is not followed by a burst`() {
        var device = DeviceUnderClock(now: 1)
        let score = playing(
            line(beatsPerMinute: 120), from: 24 * 9, OutputSettings(isClockAlwaysOn: false, preroll: 4))
        device.run(score, until: 2_600_000)
        device.now += 1_000_000
        device.run(score, until: 8_000_000)
        let gaps = zip(device.ticks, device.ticks.dropFirst()).map { $1 - $0 }
        #expect(gaps.count { $0 < 3_000 } <= 3)
        #expect(device.misplacement(in: score) == nil)
    }

    @Test(arguments: [OutputSettings(divide: 2, isClockAlwaysOn: false, preroll: 1), OutputSettings(offset: -30_000)])
    func `play requested within an output's reach results in a Start`(settings: OutputSettings) {
        let line = line(beatsPerMinute: 120)
        var device = DeviceUnderClock(now: 1_000_001)
        let reach = settings.reach(microsecondsPerBeat: 500_000)
        let top = line.firstTick(atOrAfter: HostTime(microseconds: 1_000_001 + reach))
        device.run(playing(line, from: top, settings), until: 20_000_000)
        #expect(device.transport == [.start])
    }
}

extension OutputSettings {
    /// Settings that a profile could have.
    static func random(using random: inout SeededGenerator) -> OutputSettings {
        var settings = OutputSettings(lead: Int64.random(in: 0...9_000, using: &random))
        settings.locate = Int64.random(in: 0...30_000, using: &random)
        settings.realign = Bool.random(using: &random) ? .restart : .songPosition
        settings.isClockAlwaysOn = Int.random(in: 0..<3, using: &random) > 0
        settings.preroll = Int64.random(in: 0...2, using: &random)
        settings.smoothing = Bool.random(using: &random) ? Int64.random(in: 0...500_000, using: &random) : 0
        return settings
    }
}

extension Score {
    /// Changes the tempo now, like a session.
    mutating func changeTempo(to beatsPerMinute: Double, at now: Int64) {
        let tempo = Tempo(beatsPerMinute: beatsPerMinute)
        let ahead = map.line.position(at: HostTime(microseconds: now)) * Double(tempo.microsecondsPerBeat) / 24
        let line = TickLine(
            microsecondsPerBeat: tempo.microsecondsPerBeat,
            timeOrigin: HostTime(microseconds: now - Int64(ahead.rounded())), tickOrigin: 0)
        map.changeTempo(to: line, at: HostTime(microseconds: now))
    }
}

extension DeviceUnderClock {
    /// Where the device is, if that differs from the plan; nil if all is well.
    func misplacement(in score: Score) -> String? {
        guard isPlaying == score.plan.transport.isPlaying else { return isPlaying ? "it plays" : "it stands still" }
        let train = PulseTrain(score.plan, on: score.map)
        let (before, after) = (HostTime(microseconds: now - 60), HostTime(microseconds: now + 60))
        let expected = train.first(atOrAfter: before, on: score.map)...train.first(atOrAfter: after, on: score.map)
        let places = expected.map { train.grid.songPosition(ofPulse: $0 / 6 * 6, score.plan.transport) }
        guard isPlaying, score.plan.settings.realign == .songPosition else { return nil }
        let cycle = train.grid.songPosition(ofPulse: songPosition / 6 * 6, score.plan.transport)
        let isThere = zip(expected, places).contains { $0 % 6 == songPosition % 6 && $1 == cycle }
        return isThere ? nil : "at \(songPosition), should be in \(expected)"
    }
}
