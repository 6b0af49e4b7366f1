import BeatTime
import MIDIClock
import Simulation

@testable import Arbiter
@testable import Gateway

// Machines that send their clocks to the gateways of a world.
extension GatewayWorld {
    /// Has a machine play its clock to a gateway.
    ///
    /// - Parameters:
    ///   - source: where it comes in.
    ///   - node: who hears it.
    ///   - jitter: of its ticks' times.
    ///   - seconds: from when to when.
    ///   - seed: of its jitter.
    ///   - tempo: beats per minute from a tick to the next.
    ///   - transport: what it sends 3 ms before a tick.
    mutating func playLeader(
        from source: ClockSource = GatewayWorld.leaderPorts[0], at node: Int, jitter: LeaderClock.Jitter,

        seconds: ClosedRange<Double>, seed: UInt64, tempo: (Int) -> Double,
        transport: (Int) -> [ClockMessage] = { _ in [] }
    ) {
        var random = SeededGenerator(seed: seed).split("leader")
        var (count, end) = (0, seconds.lowerBound)
        while end < seconds.upperBound {
            end += 2.5 / tempo(count)
            count += 1
        }
        let clock = LeaderClock(
            count: count, start: seconds.lowerBound * 1e6, jitter: jitter, random: &random, tempo: tempo
        )
        var top = leaders[node]?.top
        for (number, time) in clock.truth.prefix(count).enumerated() {
            for message in transport(number) {
                if message == .start { top = number }
                at(time / 1e6 - 0.003) { $0.hear(message, from: source, at: node) }
            }
        }
        for arrival in clock.arrivals {
            at(Double(arrival.time.microseconds) / 1e6) { $0.hear(.timingClock, from: source, at: node) }
        }
        leaders[node] = (clock.truth.map { WorldTime(microseconds: Int64($0)) }, top)
    }

    /// The same at one tempo.
    mutating func playLeader(
        from source: ClockSource = GatewayWorld.leaderPorts[0], at node: Int, tempo: Double, jitter: LeaderClock.Jitter,
        seconds: ClosedRange<Double>, seed: UInt64,
        transport: (Int) -> [ClockMessage] = { _ in [] }
    ) {
        playLeader(
            from: source, at: node, jitter: jitter, seconds: seconds, seed: seed,
            tempo: { _ in tempo }, transport: transport)
    }

    /// When a tick of a gateway's leader truly falls, on that gateway's clock.
    func leaderTime(ofTick tick: Int, at node: Int) -> Int64 {
        nodes[node].clock.hostTime(at: leaders[node]?.truth[tick] ?? now).microseconds
    }

    /// Beats per minute of a gateway's ticks.
    func tempo(of node: Int) -> Double { 60e6 / Double(line(of: node).microsecondsPerBeat) }

    /// What a gateway's status shows: tempo and beat, and its host time.
    func shown(at node: Int) -> (time: HostTime, tempo: Double, beat: Double) {
        let (now, leadership) = (hostTime(of: node), nodes[node].engine.arbiter.leadership)
        let beat = leadership.timeline.shownBeats(at: now, quantum: leadership.quantum)
        return (now, leadership.timeline.tempo.beatsPerMinute, beat.value)
    }

    /// Checks that a gateway's newest tick is its leader's, and the same tick of the song.
    func expectOnLeader(_ node: Int, within microseconds: Int64) throws {
        guard let last = machine(of: node).ticks.last, let leader = leaders[node] else { throw broken("no ticks") }
        let nearest = leader.truth.indices.min { left, right in
            abs(leaderTime(ofTick: left, at: node) - last) < abs(leaderTime(ofTick: right, at: node) - last)
        }
        guard let nearest else { throw broken("no leader") }
        let apart = last - leaderTime(ofTick: nearest, at: node)
        // The loop guard may be asking; and the output thread wakes up to 150 us late.
        let asked = nodes[node].engine.arbiter.probing == nil ? 0 : Probe.amplitude(line(of: node))
        guard (-microseconds - asked...microseconds + asked + 150).contains(apart) else {
            throw broken("node \(node) is \(apart) us from its leader's tick")
        }
        guard let top = leader.top, machine(of: node).isPlaying else { return }
        let position = machine(of: node).songPosition - 1
        guard position == Int64(nearest - top) else {
            throw broken("node \(node) is at tick \(position) of the song, its leader at \(nearest - top)")
        }
    }
}

extension DrumMachine {
    /// Start, Continue and Stop, in the order they came.
    var moves: [ClockMessage] { transport.filter { if case .songPosition = $0 { false } else { true } } }

    /// When the tick came that began the song last.
    var startedAt: Int64? {
        guard let start = events.lastIndex(where: { $0.message == .start }) else { return nil }
        return events[start...].first { $0.message == .timingClock }?.at
    }
}
