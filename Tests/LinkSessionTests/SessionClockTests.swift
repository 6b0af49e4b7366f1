import BeatTime
import Simulation
import Testing

@testable import LinkSession

/// Estimates from round trips with the delays of bad networks.
@Suite
struct SessionClockTests {
    /// A network to a clock with a given lead and rate.
    private struct Network {
        var delay: ClosedRange<Double>
        var loss = 0.0
        var drift = 0.0
        var random: SeededGenerator
        static let ahead: Int64 = 5_000_000_000

        func offset(at time: HostTime) -> Double { Double(Self.ahead) + drift * Double(time.microseconds) }

        /// As many round trips as in the usual chain of pings; each pong triggers the next ping.
        mutating func run(_ count: Int, at start: HostTime) -> [RoundTrip] {
            var trips: [RoundTrip] = []
            var sent = start
            while trips.count < count {
                let (there, back) = (Double.random(in: delay, using: &random), Double.random(in: delay, using: &random))
                guard !random.chance(loss), !random.chance(loss) else {
                    sent = sent.advanced(byMicroseconds: 50_000)
                    continue
                }
                let met = sent.advanced(byMicroseconds: Int64(there))
                let ghost = GhostTime(microseconds: met.microseconds + Int64(offset(at: met).rounded()))
                let arrived = sent.advanced(byMicroseconds: Int64(there + back))
                trips.append(RoundTrip(sent: sent, ghostTime: ghost, arrived: arrived))
                sent = arrived
            }
            return trips
        }
    }

    /// The usual peer's estimate from the same round trips.
    private func median(_ trips: [RoundTrip]) -> Double {
        var values = trips.map { ($0.lowest().offset + $0.highest().offset) / 2 }
        for (last, next) in zip(trips, trips.dropFirst()) where last.arrived == next.sent {
            values.append((last.lowest().offset + next.highest().offset) / 2)
        }
        return values.sorted()[values.count / 2]
    }

    private func quantile(_ values: [Double], _ share: Double) -> Double {
        values.sorted()[Int(share * Double(values.count - 1))]
    }

    /// Errors in microseconds of our clock and of the plain median, 30 s after joining, over many sessions.
    private func errors(
        delay: ClosedRange<Double>, loss: Double, drift: Double
    ) throws -> (ours: [Double], median: [Double], claimed: [Double]) {
        var (ours, theirs, claimed): ([Double], [Double], [Double]) = ([], [], [])
        for seed in 1...100 as ClosedRange<UInt64> {
            var network = Network(delay: delay, loss: loss, drift: drift, random: SeededGenerator(seed: seed))
            let first = network.run(51, at: HostTime(microseconds: 0))
            var clock = SessionClock(try #require(Burst(first, drift: 0)))
            for second in 1..<30 {
                let trips = network.run(16, at: HostTime(microseconds: Int64(second) * 1_000_000))
                clock.add(try #require(Burst(trips, drift: clock.drift)))
            }
            let now = HostTime(microseconds: 30_000_000)
            let truth = network.offset(at: now)
            ours.append(abs(Double(clock.transform(at: now).intercept) - truth))
            theirs.append(abs(median(first) - truth))
            claimed.append(clock.errorMicroseconds(at: now))
        }
        return (ours, theirs, claimed)
    }

    @Test(arguments: [
        ("wired", 40.0...90.0, 0.0, 0.0, 2.0, 5.0), ("wired, 100 ppm", 40...90, 0, 1e-4, 2, 5),
        ("3 ms ± 2 ms, 1 % loss", 1000...5000, 0.01, 0, 32, 110),
        ("3 ms ± 2 ms, 1 % loss, 100 ppm", 1000...5000, 0.01, 1e-4, 32, 110),
        ("8 ms ± 5 ms, 5 % loss", 3000...13_000, 0.05, 0, 80, 300),
        ("8 ms ± 5 ms, 5 % loss, 100 ppm", 3000...13_000, 0.05, 1e-4, 80, 300),
    ])
    func `after half a minute the clock is better than the median of the first measurement`(
        name: String, delay: ClosedRange<Double>, loss: Double, drift: Double, typical: Double, worst: Double
    ) throws {
        let (ours, median, claimed) = try errors(delay: delay, loss: loss, drift: drift)
        let figures = [quantile(ours, 0.5), quantile(ours, 1), quantile(median, 0.5), quantile(median, 1)]
            .map { String(Int($0.rounded())) }
        print(
            "\(name): ours \(figures[0]) us, at worst \(figures[1]); median \(figures[2]), at worst \(figures[3]);",
            "claimed \(Int(quantile(claimed, 0.5)))")
        #expect(quantile(ours, 0.5) <= typical)
        #expect(quantile(ours, 1) <= worst)
        #expect(quantile(ours, 0.5) <= quantile(median, 0.5) / 2 || quantile(ours, 0.5) <= 2)
        // The claimed error is never too small, and little more than half of the least time there and back.
        #expect(zip(ours, claimed).allSatisfy { $0 <= $1 })
        #expect(quantile(claimed, 0.5) <= delay.lowerBound * 1.4 + 100)
    }

    @Test(arguments: [300e-6, -405e-6, 1000e-6, -1000e-6])
    func `on a cable any clock is known to a tenth of a millisecond from the second measurement on`(
        drift: Double
    ) throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            var network = Network(delay: 40...90, drift: drift, random: SeededGenerator(seed: seed))
            var clock = SessionClock(try #require(Burst(network.run(51, at: HostTime(microseconds: 0)), drift: 0)))
            var worst = 0.0
            for step in 0..<60 {
                let start = HostTime(microseconds: 500_000 + Int64(step) * 1_000_000)
                clock.add(try #require(Burst(network.run(16, at: start), drift: clock.drift)))
                for later in stride(from: Int64(10_000), to: 1_000_000, by: 90_000) {
                    let now = start.advanced(byMicroseconds: later)
                    let error = abs(Double(clock.transform(at: now).intercept) - network.offset(at: now))
                    #expect(error <= clock.errorMicroseconds(at: now))
                    worst = max(worst, step == 0 ? error / 3 : error)
                }
            }
            #expect(worst < 100, "off by \(worst) us")
        }
    }

    @Test
    func `a delay of one way only is contained in the claimed error`() throws {
        var random = SeededGenerator(seed: 3)
        let trips = (0..<51).map { index in
            let sent = HostTime(microseconds: Int64(index) * 41_000)
            let there = Int64.random(in: 50...300, using: &random)
            let met = sent.advanced(byMicroseconds: there)
            return RoundTrip(
                sent: sent, ghostTime: GhostTime(microseconds: met.microseconds),
                arrived: met.advanced(byMicroseconds: 40_000 + Int64.random(in: 50...300, using: &random)))
        }
        let clock = SessionClock(try #require(Burst(trips, drift: 0)))
        let now = HostTime(microseconds: 2_100_000)
        let error = abs(Double(clock.transform(at: now).intercept))
        #expect(error > 19_000)
        #expect(error <= clock.errorMicroseconds(at: now))
        #expect(clock.errorMicroseconds(at: now) < 25_000)
    }

    @Test
    func `a member's information about the clock is discarded once the founder was measured`() throws {
        for wrong in [-40, 40, -900, 900] as [Int64] {
            var network = Network(delay: 30...400, random: SeededGenerator(seed: 4))
            let hearsay = network.run(51, at: HostTime(microseconds: 0)).map {
                RoundTrip(
                    sent: $0.sent, ghostTime: GhostTime(microseconds: $0.ghostTime.microseconds + wrong),
                    arrived: $0.arrived)
            }
            var clock = SessionClock(try #require(Burst(hearsay, drift: 0, isFirstHand: false)))
            for second in 1...10 {
                let trips = network.run(16, at: HostTime(microseconds: Int64(second) * 1_000_000))
                clock.add(try #require(Burst(trips, drift: clock.drift)))
            }
            let now = HostTime(microseconds: 10_000_000)
            let error = Double(clock.transform(at: now).intercept) - network.offset(at: now)
            #expect(abs(error) < 10, "a member wrong by \(wrong)")
        }
    }

    @Test
    func `a pong with a wrong time does not change a burst`() throws {
        var network = Network(delay: 100...300, random: SeededGenerator(seed: 1))
        for wrong in [Int64(-10_000_000), -1000, 1000, 10_000_000] {
            var trips = network.run(16, at: HostTime(microseconds: 0))
            let sound = try #require(Burst(trips, drift: 0))
            let wild = trips[5]
            trips.append(
                RoundTrip(
                    sent: wild.sent, ghostTime: wild.ghostTime.advanced(byMicroseconds: wrong), arrived: wild.arrived))
            let burst = try #require(Burst(trips, drift: 0))
            #expect((burst.lower.offset, burst.upper.offset) == (sound.lower.offset, sound.upper.offset))
        }
    }

    @Test
    func `contradictory round trips give no result`() {
        let trips = (0..<10).map { index in
            let time = HostTime(microseconds: Int64(index) * 1000)
            return RoundTrip(
                sent: time, ghostTime: GhostTime(microseconds: Int64(index) * 1_000_000),
                arrived: time.advanced(byMicroseconds: 100))
        }
        #expect(Burst(trips, drift: 0) == nil)
        #expect(Burst([], drift: 0) == nil)
    }

    @Test
    func `without new bursts the clock continues with the learned drift`() throws {
        var network = Network(delay: 40...90, drift: 8e-5, random: SeededGenerator(seed: 2))
        var clock = SessionClock(try #require(Burst(network.run(51, at: HostTime(microseconds: 0)), drift: 0)))
        for second in 1...20 as ClosedRange<Int64> {
            let trips = network.run(16, at: HostTime(microseconds: second * 1_000_000))
            clock.add(try #require(Burst(trips, drift: clock.drift)))
        }
        let later = HostTime(microseconds: 80_000_000)
        #expect(abs(Double(clock.transform(at: later).intercept) - network.offset(at: later)) < 100)
        let trips = network.run(16, at: HostTime(microseconds: 200_000_000))
        clock.add(try #require(Burst(trips, drift: clock.drift)))
        let last = HostTime(microseconds: 200_100_000)
        #expect(abs(Double(clock.transform(at: last).intercept) - network.offset(at: last)) < 60)
    }

    @Test(arguments: [0, 8e-5, -4e-4])
    func `while nothing is measured the claimed error grows, and still contains the true one`(drift: Double) throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            var network = Network(delay: 1000...5000, drift: drift, random: SeededGenerator(seed: seed))
            var clock = SessionClock(try #require(Burst(network.run(51, at: HostTime(microseconds: 0)), drift: 0)))
            for second in 1...64 as ClosedRange<Int64> {
                let trips = network.run(16, at: HostTime(microseconds: second * 1_000_000))
                clock.add(try #require(Burst(trips, drift: clock.drift)))
            }
            let fitted = clock.errorMicroseconds(at: HostTime(microseconds: 65_000_000))
            var last = fitted
            for second in stride(from: Int64(70), to: 670, by: 60) {
                // Of bursts that contradict all others, one alone changes nothing.
                if second == 190 {
                    let other = network.run(16, at: HostTime(microseconds: second * 1_000_000)).map {
                        let time = $0.ghostTime.advanced(byMicroseconds: 1_000_000)
                        return RoundTrip(sent: $0.sent, ghostTime: time, arrived: $0.arrived)
                    }
                    clock.add(try #require(Burst(other, drift: clock.drift)))
                }
                let now = HostTime(microseconds: second * 1_000_000)
                let (error, claimed) = (
                    abs(Double(clock.transform(at: now).intercept) - network.offset(at: now)),
                    clock.errorMicroseconds(at: now)
                )
                #expect(error <= claimed && claimed > last)
                last = claimed
            }
            #expect(last > fitted + 5_000)
            let trips = network.run(16, at: HostTime(microseconds: 671_000_000))
            clock.add(try #require(Burst(trips, drift: clock.drift)))
            // The rate is as unknown as at first.
            #expect(clock.errorMicroseconds(at: HostTime(microseconds: 671_100_000)) < fitted + 3_000)
        }
    }
}
