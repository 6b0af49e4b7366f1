import BeatTime
import MIDIClock
import Simulation

@testable import Arbiter
@testable import Gateway

// Machines that send their clocks to the gateways of a world.
extension GatewayWorld {
    /// Schedules a machine's clock messages to a gateway.
    ///
    /// From their beginning on, those scheduled before for the same port end, since a machine has one clock.
    ///
    /// - Parameters:
    ///   - source: the port that the messages come from.
    ///   - node: the gateway that receives them.
    ///   - jitter: how much the ticks' times vary.
    ///   - seconds: when the clock begins and ends, in seconds since the world began.
    ///   - seed: the seed for the jitter.
    ///   - faults: of the line.
    ///   - tempo: beats per minute between a tick, given by its number, and the next.
    ///   - transport: the messages sent 3 ms before a tick, given by its number.
    mutating func playLeader(
        from source: ClockSource = GatewayWorld.leaderPorts[0], at node: Int, jitter: LeaderClock.Jitter,
        seconds: ClosedRange<Double>, seed: UInt64, faults: [LeaderClock.Fault] = [], tempo: (Int) -> Double,
        transport: (Int) -> [ClockMessage] = { _ in [] }
    ) {
        var random = SeededGenerator(seed: seed).split("leader")
        var (count, end) = (0, seconds.lowerBound)
        while end < seconds.upperBound {
            end += 2.5 / tempo(count)
            count += 1
        }
        let clock = LeaderClock(
            count: count, start: seconds.lowerBound * 1e6, jitter: jitter, faults: faults, random: &random, tempo: tempo
        )
        leaderRuns += 1
        let run = leaderRuns
        at(seconds.lowerBound) { $0.newestRuns[node, default: [:]][source] = run }
        var top = leaders[node]?.top
        for (number, time) in clock.truth.prefix(count).enumerated() {
            for message in transport(number) {
                if message == .start { top = number }
                at(time / 1e6 - 0.003) { $0.hear(message, from: source, at: node, of: run) }
            }
        }
        for arrival in clock.arrivals {
            at(Double(arrival.time.microseconds) / 1e6) { $0.hear(.timingClock, from: source, at: node, of: run) }
        }
        leaders[node] = (clock.truth.map { WorldTime(microseconds: Int64($0)) }, top)
    }

    private mutating func hear(_ message: ClockMessage, from source: ClockSource, at node: Int, of run: Int) {
        if newestRuns[node]?[source] ?? 0 <= run { hear(message, from: source, at: node) }
    }

    /// Schedules a machine's clock messages at a constant tempo.
    mutating func playLeader(
        from source: ClockSource = GatewayWorld.leaderPorts[0], at node: Int, tempo: Double, jitter: LeaderClock.Jitter,
        seconds: ClosedRange<Double>, seed: UInt64, faults: [LeaderClock.Fault] = [],
        transport: (Int) -> [ClockMessage] = { _ in [] }
    ) {
        playLeader(
            from: source, at: node, jitter: jitter, seconds: seconds, seed: seed, faults: faults,
            tempo: { _ in tempo }, transport: transport)
    }

    /// The exact time of a tick of a gateway's leader, in microseconds on the gateway's clock.
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

    /// Checks that a gateway's newest tick has the time and song position of a leader's tick.
    func expectOnLeader(_ node: Int, within microseconds: Int64) throws {
        guard let last = machine(of: node).ticks.last, let leader = leaders[node] else { throw broken("no ticks") }
        let nearest = leader.truth.indices.min { left, right in
            abs(leaderTime(ofTick: left, at: node) - last) < abs(leaderTime(ofTick: right, at: node) - last)
        }
        guard let nearest else { throw broken("no leader") }
        let apart = last - leaderTime(ofTick: nearest, at: node)
        // A running loop probe shifts ticks on purpose. The output thread may wake 150 us late.
        let probe = nodes[node].engine.arbiter.probing == nil ? 0 : Probe.amplitude(line(of: node))
        guard (-microseconds - probe...microseconds + probe + 150).contains(apart) else {
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
    /// The Start, Continue and Stop messages received, in order.
    var moves: [ClockMessage] { transport.filter { if case .songPosition = $0 { false } else { true } } }

    /// When the first tick after the last Start arrived, in microseconds.
    var startedAt: Int64? {
        guard let start = events.lastIndex(where: { $0.message == .start }) else { return nil }
        return events[start...].first { $0.message == .timingClock }?.at
    }
}
