import BeatTime
import MIDIClock

/// Lists the MIDI clock messages with which a machine joins a song that plays, and follows them as a machine would.
@main
struct ClockList {
    static func main() {
        let word = CommandLine.arguments.dropFirst().first ?? "120"
        guard CommandLine.arguments.count <= 2, let tempo = Double(word), Tempo.allowed.contains(tempo) else {
            return print("usage: clock-list [BPM]   20 to 999")
        }
        var follower = ClockFollower()
        for planned in messages(at: Tempo(beatsPerMinute: tempo)) {
            follower.received(planned.message, at: planned.due)
            print("\(milliseconds(planned.due)) ms  \(planned.message)")
        }
        if let estimate = follower.estimate {
            print("a follower hears \((estimate.beatsPerMinute * 100).rounded() / 100) BPM")
        }
    }

    /// Two beats of clock, then Start and the first beat of the song, which begins with the third beat.
    private static func messages(at tempo: Tempo) -> [PlannedMessage] {
        let line = TickLine(
            microsecondsPerBeat: tempo.microsecondsPerBeat, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)
        let map = TempoMap(line)
        let song = PlannedTransport(isPlaying: true, startTick: 48, ticksPerBar: 96)
        let plan = OutputPlan(transport: song, settings: OutputSettings())
        var planner = TickPlanner()
        var messages: [PlannedMessage] = []
        // Nothing is waited for here; a program would sleep until a message is due, and send it then.
        var now = HostTime(microseconds: 0)
        while let next = planner.next(plan, on: map, at: now), messages.count < 73 {
            now = next.due
            planner.sent(next, at: now)
            messages.append(next)
        }
        return messages
    }

    private static func milliseconds(_ time: HostTime) -> String {
        let (whole, part) = time.microseconds.quotientAndRemainder(dividingBy: 1_000)
        return "\(whole)." + String("\(1_000 + part)".dropFirst())
    }
}
