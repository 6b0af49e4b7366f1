import BeatTime
import MIDIClock
import Simulation
import Testing

/// What an output's own settings do to the session's ticks.
@Suite
struct OutputSettingsTests {
    @Test(arguments: [Int64(-500_000), -12_345, -1, 0, 1, 250, 77_777, 500_000])
    func `every tick is sent exactly its offset away from the session's`(offset: Int64) {
        let line = line(beatsPerMinute: 133.7)
        var device = DeviceUnderClock(now: 1_000_001)
        device.run(playing(line, from: 96, OutputSettings(offset: offset)), until: 6_000_000)
        let first = line.firstTick(atOrAfter: HostTime(microseconds: 1_000_001 - offset))
        let expected = device.ticks.indices.map { line.time(ofTick: first + Int64($0)).microseconds + offset }
        #expect(device.ticks == expected)
    }

    @Test(arguments: [Int64(-80_000), -5_000, 0, 5_000, 200_000])
    func `Start falls on the same beat whatever the offset, if the output can reach it`(offset: Int64) throws {
        let line = line(beatsPerMinute: 120)
        var device = DeviceUnderClock(now: 1)
        device.run(playing(line, from: 96, OutputSettings(offset: offset)), until: 4_000_000)
        #expect(device.transport == [.start])
        let start = try #require(device.events.firstIndex { $0.message == .start })
        #expect(device.events[start + 1].at == line.time(ofTick: 96).microseconds + offset)
    }

    @Test
    func `an output too early for a Start joins at the next sixteenth`() throws {
        let line = line(beatsPerMinute: 120)
        var device = DeviceUnderClock(now: 1)
        let settings = OutputSettings(offset: -30_000)
        device.run(stopped(line, settings), until: 990_000)
        device.run(playing(line, from: 48, settings), until: 3_000_000)
        #expect(device.transport == [.songPosition(1), .continue])
        let moves = try #require(device.events.firstIndex { $0.message == .continue }) + 1
        #expect(device.events[moves].at == line.time(ofTick: 54).microseconds - 30_000)
    }

    @Test(arguments: [(1, 2), (1, 3), (1, 24), (2, 1), (3, 1), (4, 1), (3, 2), (2, 3), (1, 96)])
    func `multiplied and divided pulses are at the computed places, counted from the start of the song`(
        multiply: Int64, divide: Int64
    ) throws {
        let line = line(beatsPerMinute: 97.3, tickOrigin: 5)
        var device = DeviceUnderClock(now: 1)
        device.run(
            playing(line, from: 101, OutputSettings(multiply: multiply, divide: divide)), until: 20_000_000)
        let start = try #require(device.events.firstIndex { $0.message == .start })
        let pulses = device.events[start...].filter { $0.message == .timingClock }.map(\.at)
        for (index, at) in pulses.enumerated() {
            let ticks = Double(96 * multiply + Int64(index) * divide) / Double(multiply)
            let exact = ticks * Double(line.microsecondsPerBeat) / 24
            #expect(abs(Double(at) - exact) <= 1, "pulse \(index)")
        }
        #expect(device.songPosition == Int64(pulses.count))
    }

    @Test(arguments: [(1, 2), (1, 3), (3, 2), (1, 24), (1, 96)], [97, 100, 119, 120, 145] as [Int64])
    func `a divided clock starts with the song, even between its previous pulses`(
        shape: (multiply: Int64, divide: Int64), top: Int64
    ) throws {
        let line = line(beatsPerMinute: 120)
        let settings = OutputSettings(multiply: shape.multiply, divide: shape.divide)
        var device = DeviceUnderClock(now: 1)
        device.run(stopped(line, settings), until: line.time(ofTick: top).microseconds - 10_000)
        device.run(playing(line, from: top, settings), until: line.time(ofTick: top + 500).microseconds)
        #expect(device.transport == [.start])
        let start = try #require(device.events.firstIndex { $0.message == .start })
        #expect(device.events[start + 1].at == line.time(ofTick: top).microseconds)
        #expect(device.songPosition == (500 * shape.multiply - 1) / shape.divide + 1)
    }

    @Test(arguments: [500, 541, 600, 666, 750] as [Int64])
    func `swing moves the second sixteenth, spreads the ticks evenly, and leaves every eighth alone`(
        swing: Int64
    ) throws {
        let line = line(beatsPerMinute: 120)
        var device = DeviceUnderClock(now: 1)
        device.run(playing(line, from: 96, OutputSettings(swing: swing)), until: 6_000_000)
        let start = try #require(device.events.firstIndex { $0.message == .start })
        let pulses = device.events[start...].filter { $0.message == .timingClock }.map(\.at)
        for (index, at) in pulses.enumerated() {
            let (eighth, inside) = (index / 12, Double(index % 12))
            let long = Double(swing) / 1_000 * 250_000
            let share = inside < 6 ? inside / 6 * long : long + (inside - 6) / 6 * (250_000 - long)
            #expect(abs(Double(at) - 2_000_000 - Double(eighth) * 250_000 - share) <= 1.01, "tick \(index)")
        }
    }

    @Test(arguments: [(16, 500), (8, 750), (1, 750), (3, 700), (4, 500)] as [(Int64, Int64)])
    func `at any tempo pulses keep their distance, and are a subset of those requested`(
        multiply: Int64, swing: Int64
    ) {
        for beatsPerMinute in [20.0, 120, 300, 500, 999] {
            let line = line(beatsPerMinute: beatsPerMinute)
            var device = DeviceUnderClock(now: 1)
            // The drum machine's own rule, never less than 0.7 ms, is checked with each message.
            device.run(
                playing(line, from: 96, OutputSettings(multiply: multiply, swing: swing)),
                until: line.time(ofTick: 300).microseconds)
            #expect(zip(device.ticks, device.ticks.dropFirst()).allSatisfy { $1 - $0 >= 700 })
        }
    }

    @Test(arguments: [3_000, -3_000, 400, -9_000] as [Int64])
    func `an edited offset is followed by slewing, loses no tick and ends exactly`(offset: Int64) throws {
        let line = line(beatsPerMinute: 120)
        var device = DeviceUnderClock(now: 1)
        device.run(playing(line, from: 48), until: 3_000_000)
        let settings = OutputSettings(offset: offset)
        device.run(playing(line, from: 48, settings), until: 30_000_000)
        #expect(device.transport == [.start])
        let gaps = zip(device.ticks, device.ticks.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { abs(Double($0) - 500_000.0 / 24) <= 500_000.0 / 24 * 0.005 + 2 })
        let last = try #require(device.ticks.last)
        #expect(line.nearestTick(to: HostTime(microseconds: last - offset)) == Int64(device.ticks.count))
        #expect(last == line.time(ofTick: Int64(device.ticks.count)).microseconds + offset)
    }

    @Test(arguments: [200_000, -200_000] as [Int64])
    func `an offset edited by more than half a tick relocates a playing device`(offset: Int64) throws {
        let line = line(beatsPerMinute: 120)
        var device = DeviceUnderClock(now: 1)
        device.run(playing(line, from: 48), until: 3_000_000)
        device.run(playing(line, from: 48, OutputSettings(offset: offset)), until: 6_000_001)
        #expect(device.transport.prefix(2) == [.start, .stop])
        #expect(device.transport.last == .continue)
        let next = line.firstTick(atOrAfter: HostTime(microseconds: 6_000_001 - offset))
        #expect(device.songPosition == next - 48)
    }

    @Test
    func `a clock that runs only while playing is silent before its pre-roll and after Stop`() throws {
        let line = line(beatsPerMinute: 120)
        var device = DeviceUnderClock(now: 1)
        let settings = OutputSettings(isClockAlwaysOn: false, preroll: 2)
        device.run(stopped(line, settings), until: 1_000_001)
        #expect(device.events.isEmpty)
        device.run(playing(line, from: 192, settings), until: 6_000_001)
        #expect(device.ticks.first == line.time(ofTick: 192 - 48).microseconds)
        #expect(device.transport == [.start])
        #expect(device.songPosition == 288 - 192 + 1)
        device.run(stopped(line, settings), until: 8_000_000)
        #expect(device.events.last == .init(message: .stop, at: 6_000_001))
        device.run(playing(line, from: 480, settings), until: 12_000_001)
        #expect(device.ticks.first { $0 > 6_000_001 } == line.time(ofTick: 480 - 48).microseconds)
        #expect(device.songPosition == 576 - 480 + 1)
    }

    @Test
    func `a pre-roll that does not fit before the Start joins at the first sixteenth after it`() throws {
        let line = line(beatsPerMinute: 120)
        var device = DeviceUnderClock(now: 1_950_000)
        device.run(playing(line, from: 96, OutputSettings(isClockAlwaysOn: false, preroll: 4)), until: 6_000_001)
        #expect(device.transport.last == .continue)
        let moves = try #require(device.events.firstIndex { $0.message == .continue }) + 1
        #expect(device.ticks[0] > 1_950_000)
        #expect(device.events[moves].at >= device.ticks[0] + 2_000_000)
        #expect(device.songPosition == 288 - 96 + 1)
    }

    @Test(arguments: [0.0, 100, 250])
    func `smoothing spreads a change of tempo and loses no tick`(milliseconds: Double) throws {
        let first = line(beatsPerMinute: 120)
        let second = line(beatsPerMinute: 125, timeOrigin: 2_000_000, tickOrigin: 96)
        var device = DeviceUnderClock(now: 1)
        let settings = OutputSettings(smoothing: Int64(milliseconds * 1_000))
        var score = playing(first, from: 24, settings)
        device.run(score, until: 2_000_300)
        score.map.changeTempo(to: second, at: HostTime(microseconds: 2_000_000))
        device.run(score, until: 12_000_001)
        #expect(device.ticks.last == second.time(ofTick: Int64(device.ticks.count)).microseconds)
        let late =
            device.ticks.enumerated().map {
                $1 - second.time(ofTick: Int64($0 + 1)).microseconds
            }.dropFirst(96).max() ?? 0
        // A slower start than the new tempo's, by at most slope/(e·w).
        #expect(abs(Double(late) - 0.0416667 * milliseconds * 1_000 / 2.71828) < 40)
    }
}

extension OutputSettings {
    init(
        offset: Int64 = 0, multiply: Int64 = 1, divide: Int64 = 1, swing: Int64 = 500, smoothing: Int64 = 0,
        isClockAlwaysOn: Bool = true, preroll: Int64 = 0, lead: Int64 = 1_000, realign: Realign = .songPosition
    ) {
        self.init(lead: lead)
        self.offset = offset
        self.multiply = multiply
        self.divide = divide
        self.swing = swing
        self.smoothing = smoothing
        self.isClockAlwaysOn = isClockAlwaysOn
        self.preroll = preroll
        self.realign = realign
    }
}
