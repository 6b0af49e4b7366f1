import BeatTime
import MIDIClock

/// What a machine hears of a leader: the ticks of one output that follows our estimate, as the gateway's do.
struct Output {
    private var map: TempoMap?
    private var planner = TickPlanner()
    private var plan = OutputPlan(transport: .stopped, settings: OutputSettings())
    /// How far the output has come.
    private var clock = HostTime(microseconds: 0)
    private var updatedAt = HostTime(microseconds: 0)
    /// Ticks sent: by the leader's count, and when.
    private(set) var ticks: [(number: Int, time: Double)] = []
    /// Start and Continue sent to the machine.
    private(set) var moves = 0

    /// Sends what is due, then follows the estimate.
    mutating func follow(_ estimate: ClockEstimate, at now: HostTime) {
        send(until: now)
        guard updatedAt.microseconds(to: now) >= 20_000 else { return }
        updatedAt = now
        var line = estimate.line
        let present = Int64(estimate.position(at: now).rounded())
        line.timeOrigin = HostTime(microseconds: Int64(estimate.microseconds(ofTick: present).rounded()))
        line.tickOrigin = present
        guard var map else {
            self.map = TempoMap(line)
            plan.transport = PlannedTransport(isPlaying: true, startTick: present + 24, ticksPerBar: 96)
            return
        }
        map.tolerance = Int64(estimate.coarseness) + 2_000
        let ticks = map.line.position(at: now) - line.position(at: now)
        map.slew(byMicroseconds: Int64((ticks * Double(line.microsecondsPerBeat) / 24).rounded()))
        map.changeTempo(to: line, at: now)
        self.map = map
    }

    private mutating func send(until now: HostTime) {
        guard let map else { return }
        while let next = planner.next(plan, on: map, at: clock), next.due <= now {
            clock = max(clock, next.due)
            planner.sent(next, at: clock)
            switch next.message {
            case .timingClock: ticks.append((Int(next.place.tick), Double(next.due.microseconds)))
            case .start, .continue: moves += 1
            case .stop, .songPosition: break
            }
        }
    }
}
