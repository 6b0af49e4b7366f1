import BeatTime
import ClockMeter
import Simulation
import Testing

@Suite
struct SoundMeterTests {
    /// The figures for sounds at these microseconds.
    private static func figures(_ times: [Int64], until end: Int64? = nil, nominal: Double? = nil) -> ClockFigures {
        var meter = SoundMeter(start: HostTime(microseconds: 0))
        for time in times { meter.received(at: HostTime(microseconds: time)) }
        if let end { meter.timePassed(to: HostTime(microseconds: end)) }
        return meter.figures(nominal: nominal)
    }

    /// Beats of a tempo with random deviations.
    private static func beats(
        _ count: Int, tempo: Double = 120, from start: Double = 100_000, jitter: Double = 0, seed: UInt64 = 1
    ) -> [Int64] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { number in
            let error = jitter == 0 ? 0 : Double.random(in: -jitter...jitter, using: &random)
            return Int64((start + Double(number) * 60_000_000 / tempo + error).rounded())
        }
    }

    @Test
    func `jitter, tempo and drift match the input`() throws {
        // Evenly spread over 2 ms: a deviation of 1155 us. 50 parts per million slow.
        let figures = Self.figures(Self.beats(400, tempo: 120 * (1 - 50e-6), jitter: 2_000))
        let jitter = try #require(figures.jitter?.timeIntervalErrorMicroseconds)
        #expect(isNear(jitter.deviation, 1_155, 0.1))
        #expect(jitter.max > 1_900 && jitter.max < 2_800)
        let tempo = try #require(figures.tempo)
        #expect(abs(tempo.beatsPerMinute - 119.994) < 0.01)
        #expect(tempo.changes == 0)
        #expect(figures.ticks.received == 400 && figures.ticks.measured >= 384)
        #expect((figures.ticks.lost, figures.ticks.doubled) == (0, 0))
        #expect(figures.state == .locked)
    }

    @Test
    func `ten seconds are enough for a measurement`() {
        let figures = Self.figures(Self.beats(20, jitter: 500))
        #expect(figures.ticks.measured >= 16)
        #expect(figures.jitter != nil && figures.tempo?.drift != nil)
    }

    @Test
    func `missing beats are lost, sounds in between are doubled`() {
        var times = Self.beats(100, jitter: 300)
        times.remove(at: 70)
        times.removeSubrange(40...41)
        times.append(contentsOf: [times[20] + 180_000, times[60] + 250_000])
        let figures = Self.figures(times.sorted())
        #expect(figures.ticks.lost == 3)
        #expect(figures.ticks.doubled == 2)
        #expect(figures.ticks.received == 99)
        #expect(figures.silences.count == 0 && figures.tempo?.changes == 0)
    }

    @Test
    func `a pause is a silence without lost beats`() {
        let figures = Self.figures(Self.beats(40) + Self.beats(40, from: 60_030_000))
        #expect(figures.silences.count == 1)
        #expect(isNear(figures.silences.longestSeconds, 40.43, 0.01))
        #expect((figures.ticks.lost, figures.ticks.doubled) == (0, 0))
        #expect(figures.ticks.measured == 80)
    }

    @Test(arguments: [(120.0, 130.0), (120, 60), (100, 190), (90, 180), (174, 70)])
    func `a change of tempo is one change and no jitter`(from: Double, to: Double) throws {
        let first = Self.beats(48, tempo: from, jitter: 200)
        let figures = Self.figures(
            first + Self.beats(64, tempo: to, from: Double(first[47]) + 60_000_000 / to, jitter: 200, seed: 2))
        let tempo = try #require(figures.tempo)
        #expect(tempo.changes == 1)
        #expect(abs(tempo.beatsPerMinute - to) < 0.1)
        #expect(try #require(figures.jitter).timeIntervalErrorMicroseconds.max < 500)
    }

    @Test
    func `a beat that continues at another place is found again`() {
        let first = Self.beats(24)
        let figures = Self.figures(first + Self.beats(24, from: Double(first[23]) + 750_000))
        #expect(figures.state == .locked && figures.silences.count == 0)
        #expect(figures.ticks.lost == 0 && figures.ticks.doubled == 3)
    }

    @Test
    func `the intended tempo tells the number of sounds per beat`() throws {
        let sixteenths = Self.beats(200, tempo: 480)
        #expect(abs(try #require(Self.figures(sixteenths).tempo).beatsPerMinute - 480) < 0.001)
        let tempo = try #require(Self.figures(sixteenths, nominal: 120).tempo)
        #expect(abs(tempo.beatsPerMinute - 120) < 0.001)
        #expect(try abs(#require(tempo.drift).partsPerMillion) < 1)
    }

    @Test
    func `it reports when there is nothing to measure`() {
        #expect(Self.figures([]).state == .waiting)
        #expect(Self.figures(Self.beats(3)).state == .settling)
        #expect(Self.figures(Self.beats(20), until: 60_000_000).state == .lost)
        // A crowd clapping: no four in a row are even.
        var random = SeededGenerator(seed: 3)
        var (time, claps) = (Int64(0), [Int64]())
        for number in 0..<200 {
            time +=
                number % 2 == 0
                ? .random(in: 40_000...90_000, using: &random) : .random(in: 200_000...900_000, using: &random)
            claps.append(time)
        }
        let figures = Self.figures(claps)
        #expect(figures.state == .settling && figures.tempo == nil && figures.jitter == nil)
    }

    @Test
    func `impossible times are refused`() {
        let figures = Self.figures([100_000, 50_000, -1, .max, 100_000, 600_000, 1_100_000, 1_600_000])
        #expect(figures.ticks.refused == 4)
        #expect(figures.ticks.received == 4 && figures.state == .locked)
    }
}

@Suite
struct ClockDifferenceTests {
    @Test
    func `two machines are compared beat by beat`() throws {
        var random = SeededGenerator(seed: 4)
        let first = (0..<200).map { 1_000_000 + 500_000 * Double($0) }
        // The second is 3 ms early, drifts by 1 ms per minute, and misses a beat.
        var second = first.map {
            $0 - 3_000 - ($0 - 1_000_000) / 60_000 + Double.random(in: -100...100, using: &random)
        }
        second.remove(at: 50)
        let found = try #require(ClockDifference(first, against: second))
        #expect((found.matched, found.unmatched) == (199, 1))
        #expect(abs(found.growthMicrosecondsPerMinute - 1_000) < 50)
        #expect(abs(found.medianMicroseconds - 3_830) < 50)
        #expect(found.differences.count == 199)
        #expect(abs(found.differences[0].microseconds - 3_000) <= 100)
        #expect(found.leastMicroseconds >= 2_900 && found.greatestMicroseconds <= 4_760)
        let reverse = try #require(ClockDifference(second, against: first))
        #expect(abs(reverse.medianMicroseconds + found.medianMicroseconds) < 1)
    }

    @Test
    func `a few outliers do not count`() throws {
        var random = SeededGenerator(seed: 5)
        let first = (0..<100).map { 500_000 * Double($0) }
        let second = first.enumerated().map { number, time in
            time + (number % 20 == 7 ? 90_000 : Double.random(in: -1_000...1_000, using: &random))
        }
        let found = try #require(ClockDifference(second, against: first))
        #expect(isNear(found.deviationMicroseconds, 741, 0.2), "1.48 times half of the evenly spread millisecond")
        #expect(abs(found.medianMicroseconds) < 200)
    }

    @Test
    func `sounds half an interval apart match nothing`() {
        let first = (0..<10).map { 500_000 * Double($0) }
        #expect(ClockDifference(first, against: first.map { $0 + 60_000_000 }) == nil)
        #expect(ClockDifference(first, against: []) == nil)
        #expect(ClockDifference([1], against: first) == nil)
    }
}
