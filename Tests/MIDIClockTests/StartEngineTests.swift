import BeatTime
import MIDIClock
import Simulation
import Testing

/// Starts, entries and realignments, anywhere in the song.
@Suite
struct StartEngineTests {
    @Test(arguments: [20.0, 120, 300, 999])
    func `a lead of 9 ms is kept where it fits, otherwise it is 40 percent of the gap to the previous tick`(
        beatsPerMinute: Double
    ) throws {
        let line = line(beatsPerMinute: beatsPerMinute)
        var device = DeviceUnderClock(now: 1)
        device.run(
            playing(line, from: 96, OutputSettings(lead: 9_000)), until: line.time(ofTick: 200).microseconds)
        #expect(device.transport == [.start])
        let start = try #require(device.events.firstIndex { $0.message == .start })
        let (before, top) = (line.time(ofTick: 95).microseconds, line.time(ofTick: 96).microseconds)
        #expect(device.events[start].at == max(top - 9_000, before + (top - before) * 2 / 5))
        #expect(device.events[start - 1].at == before)
        #expect(device.events[start + 1].at == top)
    }

    @Test(arguments: [20.0, 120, 125, 300, 999])
    func `a lead that is kept clear is whole at every tempo, and no tick begins or ends in it`(
        beatsPerMinute: Double
    ) throws {
        let line = line(beatsPerMinute: beatsPerMinute)
        var settings = OutputSettings(lead: 10_000)
        settings.keepsLeadClear = true
        var device = DeviceUnderClock(now: 1)
        device.run(playing(line, from: 96, settings), until: line.time(ofTick: 200).microseconds)
        #expect(device.transport == [.start])
        let start = try #require(device.events.firstIndex { $0.message == .start })
        let top = line.time(ofTick: 96).microseconds
        #expect(device.events[start].at == top - 10_000)
        #expect(device.events[start - 1].at <= top - 10_000 - line.tickLength / 2)
        #expect(device.events[start - 1].at > top - 10_000 - line.tickLength * 3 / 2 - 2)
        #expect(device.events[start + 1].at == top)
        #expect(device.songPosition == 104)
    }

    @Test(arguments: [0, 100, 349] as [Int64], [0, 3, 200] as [Int64])
    func `a Start wanted together with its tick is sent before it, even after a late wake-up`(
        lead: Int64, lateness: Int64
    ) throws {
        let line = line(beatsPerMinute: 120)
        var device = DeviceUnderClock(now: 1)
        device.lateness = lateness
        device.run(playing(line, from: 96, OutputSettings(lead: lead)), until: line.time(ofTick: 200).microseconds)
        #expect(device.transport == [.start])
        let start = try #require(device.events.firstIndex { $0.message == .start })
        let top = line.time(ofTick: 96).microseconds
        #expect(device.events[start].at == top - lead + lateness)
        #expect(device.events[start + 1].message == .timingClock)
        #expect(device.events[start + 1].at <= top + lateness + 1)
        #expect(device.songPosition == 104)
    }

    @Test(arguments: [4_095.75, 4_096, 4_096.25, 8_192], [3, 4, 7] as [Int64])
    func `a device that joins late in the song is sent its place in the bar`(beats: Double, quantum: Int64) throws {
        // The song began so long ago that the device joins at about the given beat.
        let line = line(beatsPerMinute: 120, tickOrigin: Int64(beats * 24) - 12)
        for startTick in [0, -24 * 7 * 1_000_003] as [Int64] {
            var device = DeviceUnderClock(now: 1)
            device.run(playing(line, from: startTick, ticksPerBar: quantum * 24), until: 3_000_000)
            #expect(device.transport.count == 2)
            guard case .songPosition(let sixteenths) = try #require(device.transport.first) else {
                Issue.record("no song position")
                continue
            }
            let moves = try #require(device.events.firstIndex { $0.message == .continue }) + 1
            let tick = line.firstTick(atOrAfter: HostTime(microseconds: device.events[moves].at)) - startTick
            #expect(tick % 6 == 0)
            #expect(Int64(sixteenths) % (quantum * 4) == tick / 6 % (quantum * 4))
            // Positions that fit into 14 bits are sent in full.
            if tick / 6 < 16_384 / (quantum * 4) * (quantum * 4) { #expect(Int64(sixteenths) == tick / 6) }
        }
    }

    @Test
    func `a count-in has negative beats, lets the clock run and ends with a Start at 0`() {
        let line = line(beatsPerMinute: 100)
        var device = DeviceUnderClock(now: 1)
        device.run(playing(line, from: 24 * 9), until: line.time(ofTick: 24 * 12).microseconds + 1)
        #expect(device.transport == [.start])
        #expect(device.ticks.count == 24 * 12)
        #expect(device.songPosition == 24 * 3 + 1)
    }

    @Test(arguments: [20.0, 120, 999])
    func `a Start never moves a tick`(beatsPerMinute: Double) {
        let line = line(beatsPerMinute: beatsPerMinute)
        let end = line.time(ofTick: 500).microseconds
        var quiet = DeviceUnderClock(now: 1)
        quiet.run(stopped(line), until: end)
        var busy = DeviceUnderClock(now: 1)
        for round in Int64(0)..<4 {
            busy.run(playing(line, from: 100 * round + 50), until: line.time(ofTick: 100 * round + 80).microseconds)
            busy.run(stopped(line), until: line.time(ofTick: 100 * round + 100).microseconds)
        }
        busy.run(stopped(line), until: end)
        #expect(busy.ticks == quiet.ticks)
        #expect(busy.transport == [.start, .stop, .start, .stop, .start, .stop, .start, .stop])
    }

    @Test(arguments: [96, 72, 168] as [Int64])
    func `realigning places a device at the next bar, without moving a tick`(ticksPerBar: Int64) throws {
        let line = line(beatsPerMinute: 120)
        let score = playing(line, from: 24, ticksPerBar: ticksPerBar)
        var device = DeviceUnderClock(now: 1)
        device.run(score, until: 2_345_678)
        device.machine.slip(by: 5)
        device.planner.realign(.atBar)
        device.run(score, until: 9_000_001)
        #expect(device.transport.prefix(2) == [.start, .stop])
        #expect(device.transport.count == 4 && device.transport.last == .continue)
        #expect(device.ticks == (1...device.ticks.count).map { line.time(ofTick: Int64($0)).microseconds })
        #expect(device.songPosition == 432 - 24 + 1)
        let moves = try #require(device.events.firstIndex { $0.message == .continue }) + 1
        #expect((line.firstTick(atOrAfter: HostTime(microseconds: device.events[moves].at)) - 24) % ticksPerBar == 0)
        // The device is stopped for the time it needs to find its place, and no longer.
        let stop = try #require(device.events.first { $0.message == .stop }).at
        #expect(device.events[moves].at - stop == 21_000)
    }

    @Test(arguments: [(20.0, 1), (120, 1), (300, 1), (999, 2)] as [(Double, Int64)])
    func `realigning now places a device at the next sixteenth that it can reach`(
        beatsPerMinute: Double, sixteenths: Int64
    ) throws {
        let line = line(beatsPerMinute: beatsPerMinute)
        let score = playing(line, from: 24)
        var device = DeviceUnderClock(now: 1)
        // Halfway between two sixteenths, in the second beat of a bar.
        device.run(score, until: line.time(ofTick: 24 + 96 + 27).microseconds)
        device.machine.slip(by: 5)
        device.planner.realign(.now)
        device.run(score, until: line.time(ofTick: 24 + 480).microseconds)
        #expect(device.transport.count == 4 && device.transport.prefix(2) == [.start, .stop])
        #expect(device.songPosition == 480)
        let moves = try #require(device.events.firstIndex { $0.message == .continue }) + 1
        let tick = line.firstTick(atOrAfter: HostTime(microseconds: device.events[moves].at)) - 24
        #expect(tick == 96 + 24 + 6 * sixteenths)
    }

    @Test
    func `realigning now a device without song position waits for the bar`() {
        let line = line(beatsPerMinute: 120)
        var device = DeviceUnderClock(now: 1)
        let score = playing(line, from: 24, OutputSettings(realign: .restart))
        device.run(score, until: 2_345_678)
        device.planner.realign(.now)
        device.run(score, until: line.time(ofTick: 24 + 192 + 1).microseconds)
        #expect(device.transport == [.start, .stop, .start])
        #expect(device.songPosition == 97)
    }

    @Test
    func `a device without song position is realigned by a Start at the bar`() throws {
        let line = line(beatsPerMinute: 120)
        let score = playing(line, from: 24, OutputSettings(realign: .restart))
        var device = DeviceUnderClock(now: 1)
        device.run(score, until: 2_345_678)
        device.planner.realign(.atBar)
        device.run(score, until: 6_000_001)
        #expect(device.transport == [.start, .stop, .start])
        let tick = Int64(288 - device.songPosition + 1)
        #expect((tick - 24) % 96 == 0)
    }

    @Test
    func `a device without song position that misses the Start waits for a bar`() {
        let line = line(beatsPerMinute: 120)
        var device = DeviceUnderClock(now: 1)
        let settings = OutputSettings(realign: .restart)
        device.run(stopped(line, settings), until: 1_003_000)
        device.run(playing(line, from: 48, settings), until: 5_000_001)
        #expect(device.transport == [.start])
        #expect(device.songPosition == 240 - (48 + 96) + 1)
    }

    @Test
    func `a multiplier reduced by the tempo realigns the device at the next bar`() {
        let slow = line(beatsPerMinute: 120)
        let settings = OutputSettings(multiply: 4)
        var score = playing(slow, from: 24, settings)
        var device = DeviceUnderClock(now: 1)
        device.run(score, until: 2_000_001)
        // At 999 BPM there is room for only two pulses per tick.
        let fast = line(beatsPerMinute: 999, timeOrigin: 2_000_000, tickOrigin: 96)
        score.map.changeTempo(to: fast, at: HostTime(microseconds: 2_000_000))
        device.run(score, until: fast.time(ofTick: 600).microseconds + 1)
        #expect(device.transport.prefix(2) == [.start, .stop])
        #expect(device.transport.last == .continue)
        #expect(device.songPosition == 2 * (600 - 24) + 1)
    }

    @Test(arguments: Seeds.standing(1...60))
    func `with any settings and events, no device gets messages that confuse it`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var device = DeviceUnderClock(now: 1)
        var score = stopped(line(beatsPerMinute: Double.random(in: 20...999, using: &random)))
        for _ in 0..<80 {
            let end = device.now + Int64.random(in: 1...400_000, using: &random)
            while device.now < end {
                device.run(score, until: min(end, device.now + Int64.random(in: 100...20_000, using: &random)))
                device.now += Int64.random(in: 0...1_500, using: &random)
            }
            score.disturb(at: device.now, using: &random)
            if Int.random(in: 0..<10, using: &random) == 0 { device.planner.realign(.atBar) }
        }
        score.plan.settings.divide = 1
        device.run(score, until: device.now + 12_000_000)
        #expect(device.isPlaying == score.plan.transport.isPlaying, "seed \(seed)")
    }
}

extension Score {
    /// A random event: play, stop, a tempo, a slew or a step of the grid, other settings.
    mutating func disturb(at now: Int64, using random: inout SeededGenerator) {
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            plan.transport.isPlaying.toggle()
            let soon = HostTime(microseconds: now + Int64.random(in: -30_000...900_000, using: &random))
            plan.transport.startTick = map.line.firstTick(atOrAfter: soon)
        case 1:
            changeTempo(to: Double.random(in: 20...999, using: &random), at: now)
        case 2: map.slew(byMicroseconds: Int64.random(in: -1_500...1_500, using: &random))
        case 3:
            var line = map.line
            line.timeOrigin = line.timeOrigin.advanced(
                byMicroseconds: Int64.random(in: -3_000_000...3_000_000, using: &random))
            map.step(to: line)
        case 4: plan.settings.offset = Int64.random(in: -500_000...500_000, using: &random)
        default: plan.settings.swing = Int64.random(in: 500...750, using: &random)
        }
    }
}
