import BeatTime
import MIDIClock
import Simulation
import Testing

@Suite
struct FollowerFaultTests {
    @Test(
        arguments: [
            [.lost(600..<601)], [.lost(600..<603)], [.lost(600..<612)], [.stall(after: 600, microseconds: 75_000)],
            [.doubled(600), .doubled(610), .doubled(611)],
            [.lost(600..<601), .lost(602..<603), .lost(605..<607), .doubled(609)],
        ] as [[LeaderClock.Fault]])
    func `lost, doubled and stalled ticks cost less than 0.2 BPM and no miscount`(faults: [LeaderClock.Fault]) {
        for line in TestLine.all {
            var worst: [Double] = []
            for seed in UInt64(1)...3 {
                var random = SeededGenerator(seed: seed)
                let leader = LeaderClock(
                    count: 760, jitter: line.jitter, faults: faults, random: &random
                ) { _ in 120 }
                let rig = FollowerRig(leader)
                #expect(rig.hasRightCount(delay: line.delay), "\(line.name), seed \(seed)")
                worst.append(rig.from(600).worstTempo)
            }
            #expect(median(worst)! < 0.2)
        }
    }

    @Test
    func `a stall that ends at another tempo causes no miscount`() {
        for line in TestLine.all {
            for seed in UInt64(1)...3 {
                var random = SeededGenerator(seed: seed)
                let stall = LeaderClock.Fault.stall(after: 600, microseconds: 75_000)
                let leader = LeaderClock(count: 900, jitter: line.jitter, faults: [stall], random: &random) {
                    $0 < 600 ? 120 : 126
                }
                let rig = FollowerRig(leader)
                #expect(rig.hasRightCount(delay: line.delay))
                #expect(rig.from(690).worstTempo < 0.5)
            }
        }
    }

    @Test
    func `lost and doubled ticks are counted as such`() {
        var random = SeededGenerator(seed: 9)
        let faults: [LeaderClock.Fault] = [.lost(300..<304), .doubled(350), .doubled(380)]
        let leader = LeaderClock(count: 500, jitter: .gaussian(100), faults: faults, random: &random) { _ in 97 }
        let counts = FollowerRig(leader).follower.counts
        #expect(counts == ClockFollower.Counts(ticks: 498, lost: 4, extra: 2, refused: 0))
    }

    // With more swing, ticks come more than half a tick late, and a lost one cannot be told.
    @Test(arguments: [0.02, 0.05])
    func `lost ticks of a swung clock stay lost`(swing: Double) {
        var random = SeededGenerator(seed: 10)
        let faults: [LeaderClock.Fault] = [.lost(300..<301), .lost(403..<405)]
        let leader = LeaderClock(
            count: 600, jitter: .gaussian(30), faults: faults, swing: swing, random: &random
        ) { _ in 120 }
        let rig = FollowerRig(leader)
        #expect(rig.follower.counts == ClockFollower.Counts(ticks: 597, lost: 3))
        #expect(rig.hasRightCount(delay: 0))
    }

    @Test(arguments: [UInt64](1...3))
    func `a hundred thousand ticks with every fault are counted exactly`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var faults: [LeaderClock.Fault] = []
        var tick = 500
        while tick < 34_000 {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: faults.append(.lost(tick..<tick + Int.random(in: 1...12, using: &random)))
            case 1: faults.append(.doubled(tick))
            default:
                let length = Double.random(in: 5_000...150_000, using: &random)
                faults.append(.stall(after: tick, microseconds: length))
            }
            tick += Int.random(in: 300...900, using: &random)
        }
        let leader = LeaderClock(count: 34_000, jitter: .gaussian(500), faults: faults, random: &random) {
            // Slow wandering around 128.
            128 + 4 * Double(abs($0 % 4_000 - 2_000)) / 2_000
        }
        #expect(FollowerRig(leader).hasRightCount(delay: 0))
    }

    @Test(arguments: [1, 5, 40, 700])
    func `after an overflow the count matches the leader's again`(missing: Int) {
        for line in TestLine.all {
            var random = SeededGenerator(seed: 3)
            let lost = LeaderClock.Fault.lost(600..<600 + missing)
            let leader = LeaderClock(
                count: 900 + missing, jitter: line.jitter, faults: [lost], random: &random
            ) { _ in 120 }
            var follower = ClockFollower()
            for arrival in leader.arrivals {
                if arrival.number == 600 + missing { follower.messagesLost() }
                follower.received(.timingClock, at: arrival.time)
            }
            let last = 900 + missing - 1
            let estimate = follower.estimate!
            #expect(abs(estimate.microseconds(ofTick: Int64(last)) - leader.truth[last] - line.delay) < 3_000)
            #expect(follower.counts.lost == Int64(missing))
            #expect(follower.state == .locked)
        }
    }

    @Test(arguments: [3_333_333, 61_234_567] as [Int64])
    func `after a pause the leader's count and tempo continue`(pause: Int64) throws {
        var random = SeededGenerator(seed: 5)
        let leader = LeaderClock(count: 600, jitter: .gaussian(200), random: &random) { _ in 120 }
        var follower = ClockFollower()
        for (index, arrival) in leader.arrivals.enumerated() {
            if index == 400 { follower.timePassed(to: arrival.time.advanced(byMicroseconds: pause)) }
            let time = arrival.time.advanced(byMicroseconds: index < 400 ? 0 : pause)
            #expect(index != 400 || follower.state == .lost)
            follower.received(.timingClock, at: time)
            #expect(index < 430 || follower.state == .locked)
        }
        let estimate = try #require(follower.estimate)
        #expect(estimate.tick == 599)
        #expect(abs(estimate.beatsPerMinute - 120) < 0.1)
        #expect(abs(estimate.microseconds(ofTick: 599) - leader.truth[599] - Double(pause)) < 600)
    }

    @Test(arguments: [3_333_333, 61_234_567] as [Int64], [nil, 120, 90] as [Double?])
    func `with Start after a pause the song begins at its first tick, at the former tempo until another shows`(
        pause: Int64, tempo: Double?
    ) throws {
        var random = SeededGenerator(seed: 5)
        let leader = LeaderClock(count: 600, jitter: .gaussian(50), random: &random) { $0 < 400 ? 120 : tempo ?? 120 }
        var follower = ClockFollower()
        for (index, arrival) in leader.arrivals.enumerated() {
            let time = arrival.time.advanced(byMicroseconds: index < 400 ? 0 : pause)
            if index == 400 {
                follower.timePassed(to: time)
                #expect(follower.state == .lost)
                if tempo != nil { follower.received(.start, at: time) }
            }
            follower.received(.timingClock, at: time)
            guard (400..<430).contains(index), tempo != nil || index >= 424 else {
                #expect(index != 400 || follower.state == .settling)
                continue
            }
            #expect(follower.state == .locked, "tick \(index)")
            let estimate = try #require(follower.estimate)
            let late = estimate.microseconds(ofTick: Int64(index)) - leader.truth[index] - Double(pause)
            #expect(abs(late) < 1_000, "tick \(index)")
            if index >= 406 { #expect(abs(estimate.beatsPerMinute - (tempo ?? 120)) < 1, "tick \(index)") }
        }
    }

    @Test
    func `a cable unplugged for a second causes no miscount`() throws {
        var random = SeededGenerator(seed: 5)
        let leader = LeaderClock(
            count: 600, jitter: .gaussian(1_000), faults: [.lost(400..<448)], random: &random
        ) { _ in 120 }
        #expect(FollowerRig(leader).hasRightCount(delay: 0))
    }

    @Test(arguments: [UInt64](1...20))
    func `no stamps, however wrong, stop the follower, and a clean clock afterwards is locked`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var follower = ClockFollower()
        var time: Int64 = 0
        for _ in 0..<1_500 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: time = Int64.random(in: .min ... .max, using: &random)
            case 1: time = [Int64.min, .max, 0, -1, 1 << 53, -(1 << 53), (1 << 53) - 1].randomElement(using: &random)!
            case 2: time = time &- Int64.random(in: 0...100_000, using: &random)
            case 3: break
            default: time = time &+ Int64.random(in: 0...30_000, using: &random)
            }
            let message = Self.anyMessage(&random)
            follower.received(message, at: HostTime(microseconds: time))
            if random.chance(0.05) { follower.messagesLost() }
            follower.timePassed(to: HostTime(microseconds: time &+ Int64.random(in: 0...1_000_000, using: &random)))
            if let estimate = follower.estimate {
                #expect((17...1_101).contains(estimate.beatsPerMinute))
                _ = estimate.line.time(ofTick: estimate.line.tickOrigin)
                _ = estimate.position(at: HostTime(microseconds: time))
            }
        }
        let leader = LeaderClock(
            count: 300, start: 1e9, jitter: .gaussian(100), random: &random
        ) { _ in 140 }
        for arrival in leader.arrivals { follower.received(.timingClock, at: arrival.time) }
        #expect(follower.state == .locked)
        let estimate = try #require(follower.estimate)
        #expect(abs(estimate.beatsPerMinute - 140) < 0.1)
    }

    private static func anyMessage(_ random: inout SeededGenerator) -> ClockMessage {
        switch Int.random(in: 0..<16, using: &random) {
        case 0: .start
        case 1: .stop
        case 2: .continue
        case 3: .songPosition(UInt16.random(in: .min ... .max, using: &random))
        default: .timingClock
        }
    }
}
