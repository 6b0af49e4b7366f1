import BeatTime
import Gateway
import MIDIClock
import Testing

/// Commands as clients send them and the server reads them.
@Suite
struct CommandRequestTests {
    private static let commands: [Command] = [
        .enableLink(true), .enableStartStopSync(false), .setPlaying(true), .setTempo(Tempo(beatsPerMinute: 128.5)),
        .stepTempo(by: -0.1), .scaleTempo(by: 0.5), .tap(at: HostTime(microseconds: 1_234_567_005)), .tap(at: nil),
        .follow(.auto), .follow(.port("TR-8S")), .setQuantum(Beats(3)), .undo, .realign(output: nil, .atBar),
        .realign(output: "my desk/1", .now), .adjust(output: nil, OutputAdjustment(nudge: -2.5)),
        .mute(output: nil, .on), .mute(output: "a", .off(afterBars: 4)), .mute(output: "a", .toggle),
        .countIn(bars: 2), .bend(output: nil, percent: -2.5, for: Command.bendTime),
        .bend(output: "drums", percent: 0, for: Command.bendTime),
        .adjust(output: "Bär", OutputAdjustment(offset: -20)),
        .adjust(output: "a", OutputAdjustment(resetsOffset: true)),
        .adjust(output: "a", OutputAdjustment(multiply: 2, divide: 96, swing: 62.5, range: 40...300)),
        .adjust(output: "a", OutputAdjustment(isEnabled: false, markSeconds: 30)),
    ]

    @Test(arguments: commands)
    func `the server reads what a client has sent`(command: Command) throws {
        let request = try #require(command.request)
        let output = request.path.namesOutput ? request.output : nil
        #expect(try Command(request.path, output: output, Array(request.body.json.utf8)) == command)
    }

    @Test
    func `an output's name is escaped in the path`() {
        #expect(Command.realign(output: "my desk/1", .now).request?.address == "outputs/my%20desk%2F1/realign")
        #expect(Command.undo.request?.address == "undo")
    }

    @Test(arguments: [
        (CommandPath.tempo, #"{"bpm":1000}"#, "bpm: 20 to 999"),
        (.tempo, #"{"bpm":1,"step":1}"#, "bpm, step: only one of these"),
        (.quantum, #"{"beats":65}"#, "beats: 0 to 64"),
        (.output, #"{"divide":1.5}"#, "divide: a whole number from 1 to 96"),
        (.output, #"{"swing":80}"#, "swing: 50 to 75"),
        (.nudge, #"{"milliseconds":-1001}"#, "milliseconds: -1000 to 1000"),
        (.outputBend, #"{"percent":9}"#, "percent: -8 to 8"),
        (.link, #"{"enabled":1}"#, "enabled: true or false"),
        (.undo, #"{"x":1}"#, "x: unknown; this request takes no keys"),
    ])
    func `a wrong value is refused with what would be right`(path: CommandPath, json: String, problem: String) {
        #expect(throws: BadCommand.badValue(problem)) { try Command(path, output: nil, Array(json.utf8)) }
    }
}
