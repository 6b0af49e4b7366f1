import BeatTime
import MIDIClock
import Simulation
import Testing

@Suite
struct TickPlannerTests {
    @Test(arguments: [20, 97.3, 120, 133.7, 300, 999])
    func `a stopped song has a clock of exactly 24 ticks per beat`(beatsPerMinute: Double) {
        var device = DeviceUnderClock(now: 1)
        let line = line(beatsPerMinute: beatsPerMinute)
        device.run(stopped(line), until: 10_000_000)
        #expect(device.ticks == (1...device.ticks.count).map { line.time(ofTick: Int64($0)).microseconds })
        #expect(device.transport.isEmpty)
    }

    @Test(arguments: [20, 120, 300, 999])
    func `Start is sent once, right before the tick that is beat 0`(beatsPerMinute: Double) throws {
        var device = DeviceUnderClock(now: 1)
        let line = line(beatsPerMinute: beatsPerMinute)
        device.run(playing(line, from: 96), until: line.time(ofTick: 200).microseconds)
        #expect(device.transport == [.start])
        let start = try #require(device.events.firstIndex { $0.message == .start })
        let top = line.time(ofTick: 96).microseconds
        #expect(device.events[start + 1] == .init(message: .timingClock, at: top))
        let previous = line.time(ofTick: 95).microseconds
        #expect(device.events[start].at == max(top - 1_000, previous + (top - previous) * 2 / 5))
        #expect(device.songPosition == 104)
    }

    @Test
    func `a Start announced too late becomes Song Position and Continue at the next sixteenth`() throws {
        var device = DeviceUnderClock(now: 1)
        let line = line(beatsPerMinute: 120)
        let top = line.time(ofTick: 24).microseconds
        device.run(stopped(line), until: top + 3_000)
        device.run(playing(line, from: 24), until: top + 1_000_001)
        #expect(device.transport == [.songPosition(1), .continue])
        let moves = try #require(device.events.firstIndex { $0.message == .continue }) + 1
        #expect(device.events[moves].at == line.time(ofTick: 30).microseconds)
        #expect(device.songPosition == 48 + 1)
    }

    @Test
    func `a song that stops sends Stop at once and the clock continues`() {
        var device = DeviceUnderClock(now: 1)
        let line = line(beatsPerMinute: 120)
        device.run(playing(line, from: 24), until: 2_345_678)
        device.run(stopped(line), until: 4_000_000)
        #expect(device.transport == [.start, .stop])
        #expect(device.events.first { $0.message == .stop }?.at == 2_345_678)
        #expect(device.ticks.count == 192 - 1)
    }

    @Test
    func `a Start withdrawn before it was due has no effect`() {
        var device = DeviceUnderClock(now: 1)
        let line = line(beatsPerMinute: 120)
        device.run(playing(line, from: 96), until: 1_900_000)
        device.run(stopped(line), until: 4_000_000)
        #expect(device.transport.isEmpty)
    }

    @Test(arguments: [(120.0, 20.0), (20, 999), (999, 20), (97.3, 174), (300, 299.99)])
    func `a change of tempo neither loses nor doubles a tick`(before: Double, after: Double) {
        var device = DeviceUnderClock(now: 1)
        let first = line(beatsPerMinute: before)
        device.run(playing(first, from: 24), until: first.time(ofTick: 100).microseconds + 777)
        // The new line meets the old one at tick 100, 777 us ago: a late change.
        let second = line(beatsPerMinute: after, timeOrigin: first.time(ofTick: 100).microseconds, tickOrigin: 100)
        let end = second.time(ofTick: 300).microseconds + 1
        device.run(playing(second, from: 24), until: end)
        #expect(device.ticks.count == 300)
        #expect(device.transport == [.start])
        #expect(device.ticks.last == second.time(ofTick: 300).microseconds)
    }

    @Test
    func `a step of the grid by less than a sixteenth is followed without a Stop`() {
        var device = DeviceUnderClock(now: 1)
        let first = line(beatsPerMinute: 120)
        device.run(playing(first, from: 24), until: 2_000_001)
        let second = line(beatsPerMinute: 120, timeOrigin: 3_000)
        device.run(playing(second, from: 24), until: 3_000_000)
        #expect(device.transport == [.start])
        #expect(device.songPosition == 143 - 24 + 1)
    }

    @Test(arguments: [Int64(-5_000_000), -700_000, 900_000, 60_000_000])
    func `a grid that steps relocates a playing device at a sixteenth of the new grid`(step: Int64) throws {
        var device = DeviceUnderClock(now: 1)
        let first = line(beatsPerMinute: 120)
        device.run(playing(first, from: 0), until: 1)
        device.run(playing(first, from: 24), until: 10_000_001)
        let second = line(beatsPerMinute: 120, timeOrigin: step)
        let startTick = Int64(24) - (step > 9_000_000 ? 96 * 40 : 0)
        device.run(playing(second, from: startTick), until: 12_000_000)
        #expect(device.transport.prefix(2) == [.start, .stop])
        #expect(device.transport.last == .continue)
        let next = second.firstTick(atOrAfter: HostTime(microseconds: 12_000_000))
        #expect(device.songPosition == next - startTick)
        #expect(device.isPlaying)
    }

    @Test
    func `a step while stopped moves the ticks to the new grid`() {
        var device = DeviceUnderClock(now: 1)
        device.run(stopped(line(beatsPerMinute: 120)), until: 1_000_000)
        let second = line(beatsPerMinute: 120, timeOrigin: 700_009)
        device.run(stopped(second), until: 2_000_000)
        #expect(device.transport.isEmpty)
        #expect(device.ticks.last == second.time(ofTick: 62).microseconds)
        #expect(zip(device.ticks, device.ticks.dropFirst()).allSatisfy { $1 - $0 < 42_000 })
    }

    @Test
    func `a grid that steps to just behind the next tick loses no tick`() {
        var device = DeviceUnderClock(now: 1)
        var score = stopped(line(beatsPerMinute: 120))
        device.run(score, until: 1_000_100)
        score.map.slew(byMicroseconds: -9_000)
        device.run(score, until: 1_012_000)
        // This is too much to slew over, and puts tick 49 to 9 ms ago.
        score.map.slew(byMicroseconds: -9_000)
        // The delay is the step's and must not count as lateness.
        let planned = device.planner.next(score.plan, on: score.map, at: HostTime(microseconds: 1_012_000))
        #expect(planned?.due == HostTime(microseconds: 1_012_000))
        #expect(planned?.belated == 0)
        device.run(score, until: 2_000_000)
        let next = score.map.line.firstTick(atOrAfter: HostTime(microseconds: 2_000_000))
        #expect(Int64(device.ticks.count) == next - 1)
    }

    @Test
    func `after a short stall ticks are caught up one by one`() {
        var device = DeviceUnderClock(now: 1)
        let line = line(beatsPerMinute: 120)
        device.run(playing(line, from: 24), until: 1_990_000)
        device.now += 60_000
        device.run(playing(line, from: 24), until: 3_000_001)
        #expect(device.transport == [.start])
        #expect(device.ticks.count == 144)
        #expect(device.planner.takeSkipped().pulses == 0)
    }

    @Test
    func `late ticks are caught up no faster than the device's highest tempo`() throws {
        var score = playing(line(beatsPerMinute: 120), from: 24)
        score.plan.settings.tempos = try #require(TempoRange(lowest: 60_000, highest: 180_000))
        var device = DeviceUnderClock(now: 1)
        device.run(score, until: 1_990_000)
        device.now += 60_000
        device.run(score, until: 3_000_001)
        #expect(device.ticks.count == 144)
        #expect(zip(device.ticks, device.ticks.dropFirst()).allSatisfy { $1 - $0 >= 60_000_000 / 180 / 24 })
    }

    @Test
    func `a long stall ends in Stop, Song Position and Continue at the right place`() {
        var device = DeviceUnderClock(now: 1)
        let line = line(beatsPerMinute: 120)
        device.run(playing(line, from: 24), until: 1_990_000)
        device.now += 500_000
        device.run(playing(line, from: 24), until: 4_000_001)
        #expect(device.transport.prefix(2) == [.start, .stop])
        #expect(device.transport.last == .continue)
        #expect(device.songPosition == 192 - 24 + 1)
        let skipped = device.planner.takeSkipped()
        #expect(Int64(device.ticks.count) + skipped.pulses == 192)
        #expect((489_000...500_000).contains(skipped.lateness))
        #expect(device.planner.takeSkipped().pulses == 0)
    }

    @Test
    func `nothing is skipped while a stopped device refuses its Stop`() {
        var device = DeviceUnderClock(now: 1)
        var score = playing(line(beatsPerMinute: 120), from: 24, OutputSettings(isClockAlwaysOn: false))
        device.run(score, until: 3_000_000)
        device.isStuck = true
        score.plan.transport = .stopped
        device.run(score, until: 6_000_000)
        #expect(device.planner.takeSkipped().pulses == 0)
    }

    @Test
    func `pulses that a change of tempo has made late are not skipped by a stall`() {
        var device = DeviceUnderClock(now: 1)
        var score = playing(line(beatsPerMinute: 120), from: 24)
        score.plan.settings.offset = -200_000
        device.run(score, until: 2_000_000)
        let faster = line(beatsPerMinute: 180, timeOrigin: 2_000_000, tickOrigin: 96)
        score.map.changeTempo(to: faster, at: HostTime(microseconds: 2_000_000))
        device.run(score, until: 4_000_000)
        #expect(device.planner.takeSkipped().pulses == 0)
    }

    @Test
    func `nothing is skipped by a clock that is off, nor where the grid steps`() {
        var device = DeviceUnderClock(now: 1)
        var score = playing(line(beatsPerMinute: 120), from: 24)
        device.run(score, until: 2_000_000)
        (score.plan.transport, score.plan.settings.isClockAlwaysOn) = (.stopped, false)
        device.run(score, until: 9_000_000)
        score.plan.settings.isClockAlwaysOn = true
        device.run(score, until: 10_000_000)
        score.map.step(to: line(beatsPerMinute: 120, tickOrigin: 1_000))
        device.run(score, until: 11_000_000)
        #expect(device.planner.takeSkipped().pulses == 0)
    }

    @Test
    func `a device plugged in while the song plays joins at a bar`() throws {
        var device = DeviceUnderClock(now: 1)
        let line = line(beatsPerMinute: 120)
        device.run(playing(line, from: 0), until: 2_100_000)
        device.machine.replace()
        device.planner.deviceConnected(isReturning: false)
        device.run(playing(line, from: 0), until: 6_000_001)
        #expect(device.transport == [.songPosition(32), .continue])
        #expect(device.songPosition == 288 + 1)
    }

    @Test
    func `a device that returns is stopped first, because it may have played on, and joins at a bar`() {
        var device = DeviceUnderClock(now: 1)
        let line = line(beatsPerMinute: 120)
        device.run(playing(line, from: 0), until: 1)
        device.run(playing(line, from: 24), until: 2_100_000)
        device.planner.deviceConnected(isReturning: true)
        device.run(playing(line, from: 24), until: 6_000_001)
        #expect(device.transport == [.start, .stop, .songPosition(16), .continue])
        #expect(device.songPosition == 288 - 24 + 1)
    }

    @Test
    func `a device that returns to a stopped song does not play on`() {
        var device = DeviceUnderClock(now: 1)
        let line = line(beatsPerMinute: 120)
        device.run(playing(line, from: 24), until: 2_100_000)
        device.planner.deviceConnected(isReturning: true)
        device.run(stopped(line), until: 3_000_000)
        #expect(device.transport == [.start, .stop])
    }

    @Test
    func `a grid that steps ahead and back leaves no device waiting for a place it never reaches`() {
        var device = DeviceUnderClock(now: 1)
        let first = line(beatsPerMinute: 120)
        device.run(playing(first, from: 24), until: 3_000_000)
        device.run(playing(line(beatsPerMinute: 120, timeOrigin: -60_000_000), from: 24), until: 3_020_000)
        device.run(playing(first, from: 24), until: 5_000_001)
        #expect(device.isPlaying)
        #expect(device.songPosition == 240 - 24 + 1)
    }

    @Test
    func `when the program ends a playing device is stopped, and a stopped one left alone`() {
        var device = DeviceUnderClock(now: 1)
        let line = line(beatsPerMinute: 120)
        device.run(stopped(line), until: 1_000_000)
        #expect(device.planner.finish() == nil)
        device.run(playing(line, from: 96), until: 3_000_000)
        #expect(device.planner.finish() == .stop)
        #expect(device.planner.finish() == nil)
    }

    @Test(arguments: [Int64(72), 96, 168, 24])
    func `the song position wraps at a whole number of bars`(ticksPerBar: Int64) throws {
        for sixteenths in [Int64(16_383), 16_384, 16_385, 40_000] {
            var device = DeviceUnderClock(now: 1)
            let line = line(beatsPerMinute: 120, tickOrigin: sixteenths * 6 - 60)
            device.run(playing(line, from: 0, ticksPerBar: ticksPerBar), until: 2_000_000)
            let place = try #require(device.transport.first)
            guard case .songPosition(let sent) = place else {
                Issue.record("\(place) instead of a song position")
                continue
            }
            let moves = try #require(device.events.firstIndex { $0.message == .continue }) + 1
            let tick = line.firstTick(atOrAfter: HostTime(microseconds: device.events[moves].at))
            #expect(Int64(sent) * 6 % ticksPerBar == tick % ticksPerBar)
            #expect(sent < 16_384)
        }
    }

    @Test(arguments: Seeds.standing(1...20), [300.0, 999])
    func `tempos that outbid each other are heard at no more than 1.25 times the highest`(
        seed: UInt64, highest: Double
    ) throws {
        var random = SeededGenerator(seed: seed)
        var device = DeviceUnderClock(now: 1)
        var line = line(beatsPerMinute: 120)
        var score = playing(line, from: 24)
        for step in 0..<200 {
            device.run(score, until: device.now + Int64.random(in: 1_000...40_000, using: &random))
            // News of a tempo is as old as the network is slow.
            let since = HostTime(microseconds: device.now - Int64.random(in: 0...50_000, using: &random))
            let tempo = [20, highest, Double.random(in: 20...highest, using: &random)][step % 3]
            let beat = Tempo(beatsPerMinute: tempo).microsecondsPerBeat
            let elapsed = line.position(at: since) * Double(beat) / 24
            line = TickLine(
                microsecondsPerBeat: beat,
                timeOrigin: since.advanced(byMicroseconds: -Int64(elapsed.rounded())), tickOrigin: 0)
            score.map.changeTempo(to: line, at: HostTime(microseconds: device.now))
        }
        let shortest = zip(device.ticks, device.ticks.dropFirst()).map { $1 - $0 }.min() ?? 0
        #expect(Double(shortest) >= 2_500_000 / max(999, 1.25 * highest) - 2)
    }

    @Test(arguments: Seeds.standing(1...50))
    func `late wake-ups and changes at any moment never lose a tick, double one or bring them too close`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var device = DeviceUnderClock(now: 1)
        var line = line(beatsPerMinute: Double.random(in: 20...999, using: &random))
        var plan = stopped(line)
        for _ in 0..<60 {
            let end = device.now + Int64.random(in: 1...400_000, using: &random)
            while device.now < end {
                device.run(plan, until: min(end, device.now + Int64.random(in: 100...20_000, using: &random)))
                device.now += Int64.random(in: 0...2_000, using: &random)
            }
            switch Int.random(in: 0..<3, using: &random) {
            case 0:
                plan.plan.transport.isPlaying.toggle()
                let soon = HostTime(microseconds: device.now + Int64.random(in: -30_000...900_000, using: &random))
                plan.plan.transport.startTick = line.firstTick(atOrAfter: soon)
            case 1:
                let tempo = Tempo(beatsPerMinute: Double.random(in: 20...999, using: &random))
                let perTick = Double(tempo.microsecondsPerBeat) / 24
                let elapsed = line.position(at: HostTime(microseconds: device.now)) * perTick
                line = TickLine(
                    microsecondsPerBeat: tempo.microsecondsPerBeat,
                    timeOrigin: HostTime(microseconds: device.now - Int64(elapsed.rounded())), tickOrigin: 0)
                plan.map.changeTempo(to: line, at: HostTime(microseconds: device.now))
            default: break
            }
        }
        let next = line.firstTick(atOrAfter: HostTime(microseconds: device.now))
        device.run(plan, until: line.time(ofTick: next + 5).microseconds + 1)
        // Tick 0 fell before the first look at the clock.
        #expect(device.ticks.count == Int(next) + 5, "seed \(seed)")
        device.run(plan, until: device.now + 4_000_000)
        #expect(device.isPlaying == plan.plan.transport.isPlaying, "seed \(seed)")
        if plan.plan.transport.isPlaying {
            let next = line.firstTick(atOrAfter: HostTime(microseconds: device.now))
            #expect(device.songPosition == next - plan.plan.transport.startTick, "seed \(seed)")
        }
    }
}
