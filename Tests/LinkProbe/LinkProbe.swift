import BeatTime
import LinkSession

/// Does with a session state what its input says, and tells what differs from what another program says comes of it.
///
/// A line is a letter, numbers, and for a question the answer expected. It prints each line that differs with its own
/// answer, and in the end how many questions there were. Given a number it does instead what an audio callback does, so
/// often.
@main
struct LinkProbe {
    private var state = SessionState(
        timeline: HostTimeline(
            tempo: Tempo(beatsPerMinute: 120), beatOrigin: .zero, timeOrigin: .init(microseconds: 0)),
        isConnected: false)

    static func main() throws {
        if let count = CommandLine.arguments.dropFirst().first { return try AudioCallback.run(Int(count) ?? 1) }
        var probe = LinkProbe()
        var (questions, differences) = (0, 0)
        while let line = readLine() {
            let words = line.split(separator: " ")
            guard let letter = words.first else { continue }
            let numbers = words.dropFirst().map { Double($0) ?? .nan }
            guard let answer = probe.answer(letter, numbers) else { continue }
            questions += 1
            guard answer != numbers.last else { continue }
            differences += 1
            print(line, "but", answer)
        }
        print("\(questions) questions, \(differences) differences")
    }

    /// The answer to a question; nil after a change.
    private mutating func answer(_ letter: Substring, _ numbers: [Double]) -> Double? {
        func beats(_ index: Int) -> Beats { Beats(numbers[index]) }
        func time(_ index: Int) -> HostTime { HostTime(microseconds: roundedToInteger(numbers[index])) }
        func tempo(_ index: Int) -> Tempo { Tempo(beatsPerMinute: numbers[index]) }
        switch letter {
        case "new":
            let timeline = HostTimeline(tempo: tempo(0), beatOrigin: beats(1), timeOrigin: time(2))
            state = SessionState(timeline: timeline, isConnected: numbers[3] != 0)
        case "setTempo": state.setTempo(tempo(0), at: time(1))
        case "requestBeat": state.requestBeat(beats(0), at: time(1), quantum: beats(2))
        case "forceBeat": state.forceBeat(beats(0), at: time(1), quantum: beats(2))
        case "setIsPlaying":
            state.setIsPlaying(numbers[0] != 0, at: time(1), requesting: beats(2), quantum: beats(3))
        case "tempo": return state.tempo.beatsPerMinute
        case "beat": return state.beat(at: time(0), quantum: beats(1)).value
        case "phase": return state.phase(at: time(0), quantum: beats(1)).value
        case "time": return Double(state.time(ofBeat: beats(0), quantum: beats(1)).microseconds)
        case "timeForIsPlaying": return Double(state.timeForIsPlaying.microseconds)
        default: return .nan
        }
        return nil
    }
}
