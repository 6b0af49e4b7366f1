import BeatTime
import MIDIClock
import Testing

/// A drum machine in virtual time: it takes what one planner sends, and checks what any machine would trip over.
struct DeviceUnderClock {
    struct Event: Equatable {
        var message: ClockMessage
        var at: Int64
    }

    var planner = TickPlanner()
    var now: Int64
    var events: [Event] = []

    /// How many microseconds late the thread wakes; drawn anew for each sleep.
    var lateness: () -> Int64 = { 0 }
    /// The longest sleep between two looks at the plan, in microseconds.
    let slice: Int64 = 5_000

    init(now: Int64 = 0) { self.now = now }

    /// Runs the planner under one plan until a time, as the output thread would.
    mutating func run(_ plan: OutputPlan, until end: Int64, sourceLocation: SourceLocation = #_sourceLocation) {
        while now < end {
            switch planner.step(plan, at: HostTime(microseconds: now)) {
            case .send(let message, let due):
                #expect(due.microseconds <= now, "sent before it was due", sourceLocation: sourceLocation)
                check(message, plan, sourceLocation: sourceLocation)
                events.append(Event(message: message, at: now))
            case .wait(let until):
                #expect(until.microseconds > now, "told to wait for the past", sourceLocation: sourceLocation)
                now = min(max(now + 1, min(until.microseconds, now + slice) + lateness()), end)
            }
        }
    }

    private func check(_ message: ClockMessage, _ plan: OutputPlan, sourceLocation: SourceLocation) {
        let transports = events.filter { $0.message != .timingClock }
        switch message {
        case .timingClock:
            guard let last = events.last(where: { $0.message == .timingClock }) else { return }
            let gap = min(2_000, plan.line.tickLength * 4 / 5)
            #expect(now - last.at >= max(700, gap), "ticks too close", sourceLocation: sourceLocation)
        case .start, .continue, .songPosition:
            #expect(!isPlaying, "\(message) while playing", sourceLocation: sourceLocation)
        case .stop:
            #expect(isPlaying, "Stop while stopped", sourceLocation: sourceLocation)
        }
        if message == .continue {
            let previous = transports.last?.message
            let isLocated = if case .songPosition = previous { true } else { false }
            #expect(isLocated, "Continue without a song position", sourceLocation: sourceLocation)
        }
    }

    /// Whether the machine plays, by what it was sent.
    var isPlaying: Bool {
        let last = events.last { $0.message == .start || $0.message == .continue || $0.message == .stop }
        return last?.message == .start || last?.message == .continue
    }

    /// Where the machine is in its song, in ticks: what the next tick will be.
    var songPosition: Int64 {
        var position: Int64 = 0
        var plays = false
        for event in events {
            switch event.message {
            case .timingClock: position += plays ? 1 : 0
            case .start: (position, plays) = (0, true)
            case .continue: plays = true
            case .stop: plays = false
            case .songPosition(let sixteenths): position = Int64(sixteenths) * 6
            }
        }
        return position
    }

    var ticks: [Int64] { events.filter { $0.message == .timingClock }.map(\.at) }
    var transport: [ClockMessage] { events.map(\.message).filter { $0 != .timingClock } }
}

/// Ticks at a tempo from time 0.
func line(beatsPerMinute: Double, timeOrigin: Int64 = 0, tickOrigin: Int64 = 0) -> TickLine {
    TickLine(
        microsecondsPerBeat: Tempo(beatsPerMinute: beatsPerMinute).microsecondsPerBeat,
        timeOrigin: HostTime(microseconds: timeOrigin), tickOrigin: tickOrigin)
}

func stopped(_ line: TickLine) -> OutputPlan {
    OutputPlan(line: line, transport: .stopped, settings: OutputSettings())
}

func playing(_ line: TickLine, from startTick: Int64, ticksPerBar: Int64 = 96) -> OutputPlan {
    OutputPlan(
        line: line, transport: PlannedTransport(isPlaying: true, startTick: startTick, ticksPerBar: ticksPerBar),
        settings: OutputSettings())
}
