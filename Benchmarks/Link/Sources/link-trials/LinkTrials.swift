import BeatTime
import Glibc
import LinkSession
import Simulation

/// Long trials of the Link engine in virtual time, too long for every run of the tests; each prints its figures.
@main
struct LinkTrials {
    static func main() throws {
        switch CommandLine.arguments.dropFirst().first {
        case "crowd": try crowd()
        case "day": try day()
        default: print("usage: link-trials crowd|day")
        }
    }

    /// Up to a hundred peers become one session; what that costs each of them.
    private static func crowd() throws {
        for count in [10, 25, 50, 100] {
            var world = LinkWorld("crowd", seed: 1)
            let nodes = (0..<count).map { world.addNode(tempo: 60 + Double($0), skewUpTo: 50) }
            for node in nodes {
                try world.enable(node)
                try world.run(until: world.now.seconds + 0.05)
            }
            let settled = world.now.seconds + 8
            try world.run(until: settled)
            try world.expectTogether(nodes)
            let events = world.eventCount
            let began = processorTime()
            try world.run(until: settled + 5)
            let share = (processorTime() - began) / 5 / Double(count)
            let perPeer = Double(world.eventCount - events) / 5 / Double(count)
            print(
                "\(count) peers: one session; each peer and second \(Int(perPeer)) events,",
                "\(Int(share * 1e6)) us of this processor, \(Int(perPeer / Double(count) * 10)) events for each ten peers"
            )
        }
    }

    /// What this program has used of processors so far, in seconds; other programs' work does not count.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// A day of two peers whose crystals are 100 ppm off, in opposite directions, over a jittery network.
    private static func day() throws {
        var world = LinkWorld("day", seed: 1, conditions: LinkConditions(delay: 300, jitter: 400, loss: 0.01))
        let nodes = [world.addNode(tempo: 120, skew: 100), world.addNode(tempo: 90, skew: -100)]
        for node in nodes {
            try world.enable(node)
            try world.run(until: world.now.seconds + 1)
        }
        var worst: Int64 = 0
        for second in 3...86_400 {
            try world.run(until: Double(second))
            let apart = world.spreadOfGrids(nodes)
            worst = max(worst, apart)
            if second % 14_400 == 0 { print("\(second / 3600) h: \(apart) us apart, at worst \(worst) us") }
            try world.expectTogether(nodes, within: 1000)
        }
    }
}

extension WorldTime {
    fileprivate var seconds: Double { Double(microseconds) / 1e6 }
}
