import BeatTime
import MIDIClock
import Simulation
import Testing

/// TEMPO-4: a device that does not accept the tempo gets a multiple of it.
@Suite
struct FoldingTests {
    private static let ranges: [(Int64, Int64)] = [(40, 300), (30, 300), (60, 120), (100, 200), (20, 240), (250, 999)]

    @Test(arguments: [20, 21.3, 39.9, 40, 97.3, 120, 199.9, 200, 300, 301, 599.9, 600, 601, 777, 999], ranges)
    func `a device gets the tempo times the power of two nearest 1 that it accepts`(
        beatsPerMinute: Double, range: (lowest: Int64, highest: Int64)
    ) throws {
        let settings = OutputSettings(tempos: range)
        var device = DeviceUnderClock(now: 1)
        let score = playing(line(beatsPerMinute: beatsPerMinute), from: 24, settings)
        device.run(score, until: score.map.time(ofTick: 900).microseconds)
        let exact = 60e6 / Double(score.map.line.microsecondsPerBeat)
        let fits = (Double(range.lowest) * 0.9999)...(Double(range.highest) * 1.0001)
        let folds = [0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6]
        let nearest = try #require(folds.first { fits.contains(exact * pow2($0)) })
        #expect(device.heardFold(of: score) == nearest)
        #expect(Double(device.planner.rate.multiply) / Double(device.planner.rate.divide) == pow2(nearest))
        #expect(abs(device.heardTempo(ticks: 48) / (exact * pow2(nearest)) - 1) < 0.000_1)
        #expect(device.transport == [.start])
        #expect(device.misplacementByEar(in: score) == nil)
    }

    @Test(arguments: ranges)
    func `the session goes to 20, to 999 and back, and at the bar after each change all bars are aligned`(
        range: (lowest: Int64, highest: Int64)
    ) {
        for realign in [OutputSettings.Realign.songPosition, .restart] {
            var settings = OutputSettings(tempos: range)
            settings.realign = realign
            var device = DeviceUnderClock(now: 1)
            var score = playing(line(beatsPerMinute: 120), from: 24, settings)
            device.run(score, until: 7_654_321)
            for beatsPerMinute in [20.0, 999, 20, 120, 999, 120] {
                score.changeTempo(to: beatsPerMinute, at: device.now)
                // At most the rest of a beat, and the rest of a bar.
                device.run(score, until: device.now + score.map.line.microsecondsPerBeat * 9)
                let heard = device.heardTempo() / 1.001
                #expect((Double(range.lowest) * 0.98...Double(range.highest)).contains(heard))
                #expect(device.misplacementByEar(in: score) == nil, "at \(beatsPerMinute)")
            }
        }
    }

    @Test
    func `a fold changes on a beat of the song and nowhere else`() {
        var device = DeviceUnderClock(now: 1)
        var score = playing(line(beatsPerMinute: 120), from: 29, OutputSettings(tempos: (40, 300)))
        for round in 0..<30 {
            device.run(score, until: device.now + Int64(3_000_000 + round * 77_777))
            score.changeTempo(to: round % 2 == 0 ? 400 : round % 3 == 0 ? 30 : 130, at: device.now)
        }
        let gaps = zip(device.places, device.places.dropFirst()).map { (at: $1.tick, of: $1.distance(from: $0)) }
        let changes = zip(gaps, gaps.dropFirst()).filter { $0.of != $1.of }.map { $0.0.at }
        #expect(changes.count >= 20)
        #expect(changes.allSatisfy { ($0 - 29) % 24 == 0 })
    }

    @Test
    func `a tempo that wavers around the limit folds once, and unfolds 2 percent inside`() {
        var device = DeviceUnderClock(now: 1)
        var score = playing(line(beatsPerMinute: 290), from: 24, OutputSettings(tempos: (40, 300)))
        device.run(score, until: 4_000_000)
        for beatsPerMinute in [301.0, 299, 302, 298, 300, 295, 301, 294.5] {
            score.changeTempo(to: beatsPerMinute, at: device.now)
            device.run(score, until: device.now + 2_000_000)
            #expect(device.heardFold(of: score) == -1)
        }
        #expect(device.transport == [.start, .stop, device.transport[2], .continue])
        score.changeTempo(to: 293.9, at: device.now)
        device.run(score, until: device.now + 2_000_000)
        #expect(device.heardFold(of: score) == 0)
        #expect(device.misplacementByEar(in: score) == nil)
    }

    @Test(arguments: [0, -20_000, 300_000] as [Int64], [(1, 1, 500), (2, 1, 500), (1, 3, 500), (1, 1, 620)])
    func `while the tempo sweeps, ticks stay on the grid: none is lost, doubled or too close`(
        offset: Int64, shape: (multiply: Int64, divide: Int64, swing: Int64)
    ) throws {
        var settings = OutputSettings(tempos: (40, 300))
        (settings.offset, settings.multiply, settings.divide) = (offset, shape.multiply, shape.divide)
        settings.swing = shape.swing
        var device = DeviceUnderClock(now: 1)
        var score = playing(line(beatsPerMinute: 30), from: 24, settings)
        device.run(score, until: 6_000_000)
        let steps = 400
        for step in 0..<(3 * steps) {
            let share = abs(Double(step % (2 * steps) - steps)) / Double(steps)
            score.changeTempo(to: 999 - 970 * share, at: device.now)
            device.run(score, until: device.now + 20_000)
        }
        device.run(score, until: device.now + score.settlingTime)
        #expect(device.misplacementByEar(in: score) == nil)
        guard shape.swing == 500 else { return }
        // From tick to tick it is one gap of a fold; when the fold changes, the next place of the new one.
        let gap = 1_000_000 * shape.divide / shape.multiply
        let gaps = zip(device.places, device.places.dropFirst()).map { $1.distance(from: $0) }
        let regular = Set((-4...4).map { $0 < 0 ? gap >> -$0 : gap << $0 })
        #expect(gaps.allSatisfy { regular.contains($0) })
        let changes = zip(gaps, gaps.dropFirst()).count { $0 != $1 }
        #expect((4...40).contains(changes))
    }

    @Test(arguments: [(2, 1, 200.0, 200.0), (1, 2, 70, 70), (3, 1, 120, 180), (1, 24, 120, 40), (4, 3, 500, 166.7)])
    func `the range applies to what the device gets, multiplied and divided`(
        multiply: Int64, divide: Int64, beatsPerMinute: Double, heard: Double
    ) {
        var settings = OutputSettings(tempos: (40, 300))
        (settings.multiply, settings.divide) = (multiply, divide)
        var device = DeviceUnderClock(now: 1)
        let score = playing(line(beatsPerMinute: beatsPerMinute), from: 24, settings)
        device.run(score, until: 60_000_000)
        #expect(abs(device.heardTempo(ticks: 24) - heard) < 0.1)
        #expect(device.misplacementByEar(in: score) == nil)
    }

    @Test
    func `a device that joins a folded song is sent its place in its own beats`() throws {
        var device = DeviceUnderClock(now: 10_000_001)
        let score = playing(line(beatsPerMinute: 600), from: 24, OutputSettings(tempos: (40, 300)))
        device.planner.deviceConnected(isReturning: false)
        device.run(score, until: 14_000_000)
        let moves = try #require(device.events.firstIndex { $0.message == .continue }) + 1
        let tick = score.map.line.nearestTick(to: HostTime(microseconds: device.events[moves].at)) - 24
        #expect(tick % 96 == 0)
        #expect(device.transport == [.songPosition(UInt16(tick / 12)), .continue])
    }

    @Test
    func `a device that must not be realigned stays where it is when the fold changes`() {
        var settings = OutputSettings(tempos: (40, 300))
        settings.realign = .none
        var device = DeviceUnderClock(now: 1)
        var score = playing(line(beatsPerMinute: 120), from: 24, settings)
        device.run(score, until: 3_000_000)
        score.changeTempo(to: 500, at: device.now)
        device.run(score, until: 20_000_000)
        #expect(device.heardFold(of: score) == -1)
        #expect(device.transport == [.start])
    }

    @Test
    func `an output that sends late folds when it sends the new tempo, not when it learns of it`() {
        var settings = OutputSettings(tempos: (100, 300))
        settings.offset = 450_000
        var device = DeviceUnderClock(now: 1)
        var score = playing(line(beatsPerMinute: 120), from: 24, settings)
        device.run(score, until: 4_000_001)
        let before = device.ticks.count
        score.changeTempo(to: 601, at: device.now)
        device.run(score, until: 4_450_000)
        let gaps = zip(device.ticks[(before - 1)...], device.ticks[before...]).map { $1 - $0 }
        #expect(gaps.count > 18 && gaps.allSatisfy { abs($0 - 20_833) <= 1 })
        device.run(score, until: 10_000_000)
        #expect(device.heardFold(of: score) == -2)
    }

    @Test(arguments: [(0.5, 1, 30.0), (2, 1, 500), (1, 2, 500)])
    func `pre-roll counts beats as the device gets them`(beats: Double, multiply: Int64, beatsPerMinute: Double) throws
    {
        var settings = OutputSettings(tempos: (40, 300))
        (settings.isClockAlwaysOn, settings.preroll, settings.multiply) = (false, 2, multiply)
        let line = line(beatsPerMinute: beatsPerMinute)
        let now = HostTime(microseconds: 1_000_001)
        let reach = settings.reach(microsecondsPerBeat: line.microsecondsPerBeat)
        let top = line.firstTick(atOrAfter: now.advanced(byMicroseconds: reach))
        var device = DeviceUnderClock(now: now.microseconds)
        device.run(playing(line, from: top, settings), until: 20_000_000)
        #expect(device.transport == [.start])
        let start = try #require(device.events.firstIndex { $0.message == .start })
        #expect(device.events[..<start].count { $0.message == .timingClock } == 48)
    }
}

extension OutputSettings {
    /// Settings of a device with a range of tempos, in BPM.
    init(tempos: (lowest: Int64, highest: Int64)) {
        self.init()
        self.tempos = TempoRange(lowest: tempos.lowest * 1_000, highest: tempos.highest * 1_000) ?? .all
    }
}

extension TickPlace {
    /// In millionths of a tick.
    func distance(from other: TickPlace) -> Int64 { (tick - other.tick) * 1_000_000 + millionths - other.millionths }
}
