import BeatTime
import Simulation
import Testing

/// The virtual world itself: a fault here would hide faults elsewhere.
@Suite
struct SimulationTests {
    @Test
    func `events happen in order of time, and simultaneous ones as they were scheduled`() {
        var random = SeededGenerator(seed: 1)
        var simulation = Simulation<Int>()
        var scheduled: [(time: WorldTime, event: Int)] = []
        for event in 0..<500 {
            let time = WorldTime(microseconds: .random(in: 0...50, using: &random))
            scheduled.append((time, event))
            simulation.schedule(event, at: time)
        }
        var happened: [Int] = []
        simulation.run(until: .seconds(1)) { simulation, event in
            #expect(simulation.now == scheduled[event].time)
            happened.append(event)
        }
        let expected = scheduled.sorted { ($0.time, $0.event) < ($1.time, $1.event) }
        #expect(happened == expected.map(\.event))
        #expect(simulation.now == .seconds(1))
    }

    @Test
    func `an event may schedule others, for now if their time has passed`() {
        var simulation = Simulation<Int>()
        simulation.schedule(3, at: .seconds(1))
        var times: [Double] = []
        simulation.run(until: .seconds(10)) { simulation, left in
            times.append(simulation.now.value)
            if left > 0 { simulation.schedule(left - 1, at: .seconds(left == 3 ? 0.5 : 4)) }
        }
        #expect(times == [1, 1, 4, 4])
    }

    @Test
    func `a clock with a rate error converts back to the microsecond`() {
        for skew: Int64 in [-500, -1, 0, 1, 500] {
            let clock = NodeClock(offset: 7_000_000_001, skew: skew)
            for time in stride(from: Int64(-5_000_000), to: 40_000_000_000, by: 1_234_567_891) {
                let host = HostTime(microseconds: clock.offset + time)
                let world = clock.worldTime(of: host)
                #expect(clock.hostTime(at: world) >= host)
                #expect(clock.hostTime(at: world.advanced(byMicroseconds: -1)) < host)
            }
        }
    }

    @Test
    func `another random draw in one part does not change other parts`() {
        var first = SeededGenerator(seed: 5)
        let other = first.split("other")
        _ = first.next()
        var (before, after) = (other, first.split("other"))
        #expect(before.next() == after.next())
        var third = first.split("third")
        #expect(third.next() != before.next())
    }

    @Test
    func `a network loses, duplicates and separates as configured`() {
        var network = VirtualNetwork(
            LinkConditions(delay: 100, jitter: 10, loss: 0.5, duplication: 0.5), random: SeededGenerator(seed: 3))
        let sent = WorldTime.seconds(1)
        let arrivals = (0..<2000).map { _ in network.arrivals(from: 0, to: 1, sentAt: sent) }
        #expect((900...1100).contains(arrivals.count { $0.isEmpty }))
        #expect((400...600).contains(arrivals.count { $0.count == 2 }))
        #expect(arrivals.joined().allSatisfy { (100...110).contains(sent.microseconds(to: $0)) })
        network.partition([[0], [1]])
        #expect(network.arrivals(from: 0, to: 1, sentAt: sent).isEmpty)
    }
}
