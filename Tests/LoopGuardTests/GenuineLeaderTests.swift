import BeatTime
import LoopGuard
import MIDIClock
import Simulation
import Testing

@Suite struct GenuineLeaderTests {
    private static let port = LoopWorld.port
    private static let jitters: [LeaderClock.Jitter] = [
        .none, .gaussian(30), .gaussian(100), .uniform(1_000), .heavyTailed, .frames, .gaussian(1_000),
    ]

    /// The guard's verdicts on a leader that our outputs do not reach.
    private struct Hearing {
        var wasFenced = false
        /// Ticks of the leader until it was clear.
        var ticksUntilClear: Int?
    }

    /// Lets a guard hear a leader for some ticks.
    ///
    /// - Parameters:
    ///   - jitter: of its ticks.
    ///   - apart: BPM by which it is faster than we are.
    ///   - path: how our clock may reach it.
    ///   - isHeldUp: whether our late ticks make its ticks equally late.
    ///   - ticks: their number.
    ///   - seed: of all randomness.
    /// - Returns: the guard's verdicts.
    private func hear(
        _ jitter: LeaderClock.Jitter, apart: Double, path: LoopPath = .unknown, isHeldUp: Bool = false, ticks: Int,
        seed: UInt64
    ) -> Hearing {
        var random = SeededGenerator(seed: seed)
        let start = Double.random(in: 1_000_000..<1_020_833, using: &random)
        let leader = LeaderClock(count: ticks, start: start, jitter: jitter, random: &random) { _ in 120 + apart }
        let map = ClockedGateway(beatsPerMinute: 120).map
        var loopGuard = LoopGuard(seed: seed)
        loopGuard.pathChanged(of: Self.port, to: path, at: HostTime(microseconds: 0))
        var hearing = Hearing()
        for arrival in leader.arrivals {
            var time = arrival.time
            if isHeldUp, let probe = loopGuard.probing?.probe, probe.sign(ofTick: map.nearestTick(to: time)) > 0 {
                time = time.advanced(byMicroseconds: Probe.amplitude(map.line))
            }
            loopGuard.received(from: Self.port, at: time, on: map, isFollowed: false)
            let verdict = loopGuard.verdict(of: Self.port)
            hearing.wasFenced = hearing.wasFenced || verdict.isExcluded
            if verdict.mayBeFollowed, hearing.ticksUntilClear == nil { hearing.ticksUntilClear = arrival.number + 1 }
        }
        return hearing
    }

    @Test func `a thousand genuine leaders at nearly our tempo are never excluded, and steady ones are soon clear`() {
        for seed in Seeds.standing(1...1_000) {
            let jitter = Self.jitters[Int(seed) % Self.jitters.count]
            let apart = [0, 0.001, 0.01, -0.03, 0.05][Int(seed / 7) % 5]
            let hearing = hear(jitter, apart: apart, ticks: 150, seed: seed)
            #expect(!hearing.wasFenced, "seed \(seed)")
            let isCalm = [.none, .gaussian(30), .gaussian(100)].contains(jitter)
            if isCalm { #expect(hearing.ticksUntilClear ?? .max <= 72, "seed \(seed)") }
        }
    }

    @Test func `a program that must wait for our late ticks, on a single processor, is no echo`() {
        for seed in Seeds.standing(1...100) {
            let hearing = hear(.gaussian(30), apart: 0, isHeldUp: true, ticks: 200, seed: seed)
            #expect(!hearing.wasFenced && hearing.ticksUntilClear != nil, "seed \(seed)")
        }
    }

    @Test func `genuine leaders are never excluded by a slow probe, even with a path from our outputs`() {
        for seed in Seeds.standing(1...28) {
            let jitter = Self.jitters[Int(seed) % Self.jitters.count]
            let hearing = hear(jitter, apart: 0, path: .program(1), ticks: 1_600, seed: seed)
            #expect(!hearing.wasFenced, "seed \(seed)")
            if jitter != .gaussian(1_000) { #expect(hearing.ticksUntilClear != nil, "seed \(seed)") }
        }
    }

    @Test func `a leader at another tempo is clear within a beat, and no output is probed for long`() {
        for (seed, apart) in zip(1...8 as ClosedRange<UInt64>, [-50, -30, -12, -4, 4, 12, 30, 60] as [Double]) {
            let hearing = hear(.gaussian(100), apart: apart, ticks: 24, seed: seed)
            #expect(hearing.ticksUntilClear ?? .max <= 24, "\(apart) BPM apart")
        }
    }

    @Test func `a leader in step with us is followed, and stays followed while it is tested`() {
        for seed in Seeds.standing(1...4) {
            var world = LoopWorld(seed: seed)
            world.addLeader(beatsPerMinute: 120, start: 107_000, jitter: .gaussian(50), seed: seed)
            world.wanted = Self.port
            let start = world.run(until: 10_000_000) { $0.followed != nil }
            #expect(start.map { Double($0 - 107_000) / 500_000 } ?? .infinity < 3, "seed \(seed)")
            world.loopGuard.pathChanged(of: Self.port, to: .program(1), at: world.now)
            let lost = world.run(until: 40_000_000) { $0.followed == nil }
            #expect(lost == nil && !world.wasEverFenced, "seed \(seed)")
        }
    }

    @Test(arguments: [2_000_000, 6_000_000] as [Int64])
    func `a leader that pauses stays clear when it comes back in step with us, and is tested meanwhile`(pause: Int64) {
        for seed in Seeds.standing(1...20) {
            var random = SeededGenerator(seed: seed)
            let first = LeaderClock(count: 96, start: 1e6, jitter: .gaussian(50), random: &random) { _ in 125 }
            let second = LeaderClock(count: 200, start: 4e6 + Double(pause), jitter: .gaussian(50), random: &random) {
                _ in 120
            }
            let map = ClockedGateway(beatsPerMinute: 120).map
            var loopGuard = LoopGuard(seed: seed)
            for arrival in first.arrivals {
                loopGuard.received(from: Self.port, at: arrival.time, on: map, isFollowed: false)
            }
            #expect(loopGuard.verdict(of: Self.port) == .clear, "seed \(seed)")
            var wasProbed = false
            for arrival in second.arrivals {
                loopGuard.received(from: Self.port, at: arrival.time, on: map, isFollowed: true)
                #expect(loopGuard.verdict(of: Self.port) == .clear, "seed \(seed), tick \(arrival.number)")
                wasProbed = wasProbed || loopGuard.probing != nil
            }
            #expect(wasProbed && loopGuard.probing == nil, "seed \(seed)")
        }
    }

    @Test func `a leader whose subscriptions change while it is silent is no longer clear`() {
        let map = ClockedGateway(beatsPerMinute: 120).map
        var loopGuard = LoopGuard(seed: 1)
        for tick in 0..<48 as Range<Int64> {
            let time = HostTime(microseconds: 1_000_000 + tick * 20_000)
            loopGuard.received(from: Self.port, at: time, on: map, isFollowed: false)
        }
        #expect(loopGuard.verdict(of: Self.port) == .clear)
        loopGuard.timePassed(to: HostTime(microseconds: 4_000_000), on: map)
        #expect(loopGuard.verdict(of: Self.port) == .clear)
        loopGuard.pathChanged(of: Self.port, to: .outputs(1), at: HostTime(microseconds: 4_000_000))
        #expect(loopGuard.verdict(of: Self.port) == .untested)
    }

    @Test func `a leader that slows down for long is let go only for a moment`() {
        var random = SeededGenerator(seed: 2)
        let leader = LeaderClock(count: 1_800, start: 107_000, jitter: .gaussian(100), random: &random) { tick in
            130 - Double(min(max(tick - 400, 0), 960)) / 96
        }
        var world = LoopWorld(seed: 2)
        world.add(leader.arrivals.map(\.time), from: Self.port)
        world.wanted = Self.port
        _ = world.run(until: 5_000_000)
        var (away, last) = (Int64(0), world.now.microseconds)
        _ = world.run(until: 36_000_000) {
            if $0.followed == nil { away += $0.now.microseconds - last }
            last = $0.now.microseconds
            return false
        }
        #expect(away < 2_500_000)
        #expect(!world.wasEverFenced && world.followed == Self.port)
    }
}
