import ALSASequencer
import ArgumentParser
import BeatTime
import ClockDispatch
import ControlServer
import Foundation
import Gateway
import Logging
import MIDIClock
import Testing

@testable import tactus

@Suite
struct CommandLineTests {
    @Test
    func `run without options leaves every setting at its default`() throws {
        let run = try #require(try Tactus.parseAsRoot(["run"]) as? Run)
        #expect(run.link == nil)
        #expect(run.startStopSync == nil)
        #expect(run.play == nil)
        #expect(run.quantum == nil)
        #expect(run.tempo == nil)
        #expect(run.output.isEmpty)
        #expect(run.noClockPort == false)
        #expect(run.follow == nil)
        #expect(run.clockIn == nil)
        #expect(run.http == nil)
        #expect(run.config == nil)
        #expect(run.profiles.isEmpty)
        #expect(run.tempoRange == nil)
        #expect(run.sessionTempo == nil)
        #expect(run.realtimePriority == 80)
        #expect(run.dispatch == .auto)
        #expect(run.logLevel == nil)
        #expect(run.logFormat == nil)
    }

    @Test
    func `every option of run is accepted`() throws {
        let line = """
            run --no-link --start-stop-sync --play --quantum 0.5 --tempo 999 --output 24:0 --output virtual:Drums \
            --no-clock-port --follow 28:0 --interface eth0 --interface wlan0 --http [::1]:9000 --http-token-file token \
            --config my.yaml --profiles mine --profiles more --tempo-range 60-180 --session-tempo 118-132.5 \
            --realtime-priority 0 --dispatch direct --state kept --log-level debug --log-format json
            """
        let run = try #require(try Tactus.parseAsRoot(line.split(separator: " ").map(String.init)) as? Run)
        #expect(run.link == false)
        #expect(run.startStopSync == true)
        #expect(run.state == "kept")
        #expect(run.play == true)
        #expect(run.quantum == Beats(0.5))
        #expect(run.tempo == Tempo(beatsPerMinute: 999))
        #expect(run.output.map(\.destination) == [.number(PortAddress(client: 24, port: 0)), .virtual("Drums")])
        #expect(run.config == "my.yaml")
        #expect(run.profiles == ["mine", "more"])
        #expect(run.tempoRange == TempoRange(lowest: 60_000, highest: 180_000))
        #expect(run.sessionTempo == TempoFence(lowest: 118_000, highest: 132_500))
        #expect(run.noClockPort)
        #expect(run.follow == .port("28:0"))
        #expect(run.interface == ["eth0", "wlan0"])
        #expect(run.http == HTTPAddress("[::1]:9000"))
        #expect(run.httpTokenFile == "token")
        #expect(run.realtimePriority == 0)
        #expect(run.dispatch == .direct)
        #expect(run.logLevel == .debug)
        #expect(run.logFormat == .json)
    }

    @Test(
        arguments: [
            ("stauts", "there is no command 'stauts'; did you mean 'status'?"),
            ("stauts --json", "there is no command 'stauts'; did you mean 'status'?"),
            ("help nugde", "there is no command 'nugde'; did you mean 'nudge'?"),
            ("profiles lsit", "there is no command 'lsit'; did you mean 'list'?"),
            ("polka", "there is no command 'polka'; 'tactus --help' lists them all"),
            ("", nil), ("--version", nil), ("status stauts", nil), ("help", nil), ("profiles --help", nil),
            ("help profiles show", nil),
        ] as [(String, String?)])
    func `an unknown command is refused, with a suggestion if one is similar`(line: String, message: String?) {
        let words = line.split(separator: " ").map(String.init)
        if let message {
            #expect(throws: Failure(.usage, message)) { try Tactus.requireCommand(words) }
        } else {
            #expect(throws: Never.self) { try Tactus.requireCommand(words) }
        }
    }

    @Test(arguments: ["hw:1,0", "hw:31,31", "hw:TR8S,0", "hw:USB_MIDI,0,1"])
    func `a raw device is named by its card's number or short name and the device's number`(text: String) throws {
        let run = try #require(try Tactus.parseAsRoot(["run", "--clock-in", text]) as? Run)
        #expect(run.clockIn == text)
    }

    @Test(arguments: [
        "", " ", "1,0", "hw:", "hw:1", "hw:1,", "hw:,0", "hw:1,32", "hw:1,-1", "hw:1,0,0,0", "hw:1,0,x", "HW:1,0",
        "hw:{1},0", "hw:a b,0", "hw:1,0\n", "plughw:1,0", "/dev/snd/midiC1D0",
        "hw:\(String(repeating: "x", count: 16)),0",
        "hw:1,99999999999999999999",
    ])
    func `a misspelled raw device is refused with an example of the right form`(text: String) {
        #expect(throws: BadArgument("a raw MIDI device is hw:CARD,DEVICE, such as hw:1,0; 'amidi -l' lists them")) {
            try clockInDevice(argument: text)
        }
    }

    @Test(arguments: ["", " ", "24:254", String(repeating: "x", count: 128)])
    func `follow refuses a name that no port can have`(text: String) throws {
        let run = try #require(ending(["run", "--follow=\(text)"]))
        #expect(run.exitCode == 64)
        #expect(run.text.contains("--follow <port>"))
        let follow = try #require(ending(["follow", text]))
        #expect(follow.exitCode == 64)
    }

    @Test(
        arguments: [
            ("learn tempo", "say which tempo, such as 'tactus learn tempo 128'"),
            ("learn tap 128", "'tap' takes no beats per minute; only 'tempo' does"),
            ("learn tempo 1000", "a tempo is a number from 20 to 999, such as 128.5"), ("learn tempo 128.5", nil),
            ("learn enter", "'enter' takes --bars, 0 to 64"), ("learn enter --bars 4", nil),
            ("learn count-in --bars 17", "'count-in' takes --bars, 0 to 16"),
            ("learn mute --bars 4", "--bars is for enter and count-in"),
        ] as [(String, String?)])
    func `learn takes a tempo or bars with the verbs that are told them, and only with those`(
        line: String, message: String?
    ) {
        let ending = ending(line.split(separator: " ").map(String.init))
        #expect(ending?.exitCode == message.map { _ in 64 })
        if let message { #expect(ending?.text.contains(message) == true) }
    }

    private func ending(_ arguments: [String]) -> Ending? {
        do {
            _ = try Tactus.parseAsRoot(arguments)
            return nil
        } catch {
            return Ending(error)
        }
    }

    private static let tempo = "a tempo is a number from 20 to 999, such as 128.5"
    private static let quantum = "a quantum is a number of beats from 0 to 64, such as 4"
    private static let nudge =
        "a nudge is -1000 to 1000 ms, then the output's name if only one is meant"
    private static let oneTempo =
        "give a tempo such as 128.5, a step such as +1 or -0.5, --half or --double"
    private static let address = "an address is numbers and a port, such as 127.0.0.1:8808 or [::1]:8808"

    private static let wrong: [(String, String)] = [
        ("bogus", "unexpected argument 'bogus'"),
        ("run --bogus", "unknown option '--bogus'"),
        ("run --tmpo 100", "unknown option '--tmpo'. Did you mean '--tempo'?"),
        ("run extra", "unexpected argument 'extra'"),
        ("run --tempo", "missing value for '--tempo <bpm>'"),
        ("run --tempo nan", "the value 'nan' is invalid for '--tempo <bpm>': \(tempo)"),
        ("run --tempo inf", "the value 'inf' is invalid for '--tempo <bpm>': \(tempo)"),
        ("run --tempo 19.999", "the value '19.999' is invalid for '--tempo <bpm>': \(tempo)"),
        ("run --tempo 999.001", "the value '999.001' is invalid for '--tempo <bpm>': \(tempo)"),
        ("run --tempo -120", "the value '-120' is invalid for '--tempo <bpm>': \(tempo)"),
        ("run --tempo +120", "the value '+120' is invalid for '--tempo <bpm>': \(tempo)"),
        ("run --tempo 1e2", "the value '1e2' is invalid for '--tempo <bpm>': \(tempo)"),
        ("run --tempo 0x80", "the value '0x80' is invalid for '--tempo <bpm>': \(tempo)"),
        ("run --tempo 128,5", "the value '128,5' is invalid for '--tempo <bpm>': \(tempo)"),
        ("run --tempo 1.2.3", "the value '1.2.3' is invalid for '--tempo <bpm>': \(tempo)"),
        ("run --tempo .", "the value '.' is invalid for '--tempo <bpm>': \(tempo)"),
        ("run --tempo ١٢٨", "the value '١٢٨' is invalid for '--tempo <bpm>': \(tempo)"),
        ("run --quantum 64.01", "the value '64.01' is invalid for '--quantum <beats>': \(quantum)"),
        ("run --quantum -1", "the value '-1' is invalid for '--quantum <beats>': \(quantum)"),
        ("run --quantum four", "the value 'four' is invalid for '--quantum <beats>': \(quantum)"),
        ("run --http 8808", "the value '8808' is invalid for '--http <address:port>': \(address)"),
        ("run --http ::1:8808", "the value '::1:8808' is invalid for '--http <address:port>': \(address)"),
        ("run --http 127.0.0.1:0", "the value '127.0.0.1:0' is invalid for '--http <address:port>': \(address)"),
        ("run --http rack.local:80", "the value 'rack.local:80' is invalid for '--http <address:port>': \(address)"),
        (
            "run --tempo-range 100-150",
            "the value '100-150' is invalid for '--tempo-range <low-high>': "
                + "a range is two tempos from 20 to 999, the second at least twice the first, such as 60-180"
        ),
        (
            "run --session-tempo 132-118",
            "the value '132-118' is invalid for '--session-tempo <low-high>': "
                + "use two tempos from 20 to 999, the lower first, such as 118-132"
        ),
        ("nudge", "missing expected argument '<ms>'"),
        ("nudge --set", "missing value for '--set <ms>'"),
        ("nudge --set 501", "an offset is -500 to 500 ms, such as --set -3"),
        ("nudge --set -3 tr-8s volca", "after --set <ms>, give one output at most"),
        ("nudge --reset tr-8s volca", "after --reset, give one output at most"),
        ("nudge --set 1 --reset", "--set and --reset cannot be combined"),
        ("nudge soon", nudge),
        ("nudge 1001", nudge),
        ("nudge -2 tr-8s volca", nudge),
        ("realign tr-8s volca", "unexpected argument 'volca'"),
        ("profiles show", "missing expected argument '<name>': 'tactus profiles list' names them"),
        ("run --http 127.0.0.1:9000 --no-http", "--http and --no-http cannot be combined"),
        ("run --qr --no-http", "--qr and --no-http cannot be combined"),
        ("status --qr --json", "--qr cannot be combined with --json"),
        ("status --watch", "--watch has become a command: 'tactus watch'"),
        ("run --clock-in hw:1,0 --follow TR-8S", "--clock-in and --follow cannot be combined"),
        ("follow", "missing expected argument '<port>': auto, off, or a port of 'tactus ports'"),
        (
            "run --realtime-priority 100",
            "the value '100' is invalid for '--realtime-priority <n>': "
                + "a priority is a whole number from 0 to 99; with 0, none is requested"
        ),
        (
            "run --log-level loud",
            "the value 'loud' is invalid for '--log-level <level>': "
                + "a level is trace, debug, info, notice, warning, error or critical"
        ),
        (
            "run --log-format xml",
            "the value 'xml' is invalid for '--log-format <format>'. Please provide one of 'text' and 'json'"
        ),
        (
            "run --interface eth0/1",
            "the value 'eth0/1' is invalid for '--interface <name>': "
                + "a network interface has a name such as eth0 or wlan0"
        ),
        ("run --output Drums --output drums", "--output drums is given twice"),
        ("tempo", oneTempo),
        ("tempo 128 --half", oneTempo),
        ("tempo --half --double", oneTempo),
        ("tempo 128 129", oneTempo),
        ("tempo +1 +1", oneTempo),
        ("tempo +980", "a step is -979 to 979 BPM, such as +1 or -0.5"),
        ("tempo -x", "a step is -979 to 979 BPM, such as +1 or -0.5"),
        ("tempo --halve", "unknown option '--halve'"),
        ("tempo 128 --jsno", "unknown option '--jsno'"),
        ("nudge --rest", "unknown option '--rest'"),
        ("undo 2", "unexpected argument '2'"),
        ("tempo fast", "the value 'fast' is invalid for '<bpm>': \(tempo)"),
        ("link", "missing expected argument '<state>': on or off"),
        ("link maybe", "the value 'maybe' is invalid for '<state>'. Please provide one of 'on' and 'off'"),
        ("start-stop-sync 1", "the value '1' is invalid for '<state>'. Please provide one of 'on' and 'off'"),
        ("play now", "unexpected argument 'now'"),
        ("status --url rack", "the value 'rack' is invalid for '--url <url>': a URL looks like http://127.0.0.1:8808"),
        (
            "status --url ftp://rack",
            "the value 'ftp://rack' is invalid for '--url <url>': a URL looks like http://127.0.0.1:8808"
        ),
    ]

    @Test(arguments: wrong)
    func `wrong input gets one line and exit code 64`(line: String, text: String) throws {
        let error = try #require(throws: (any Error).self) {
            _ = try Tactus.parseAsRoot(line.split(separator: " ").map(String.init))
        }
        let ending = Ending(error)
        #expect(ending.text == "tactus: \(text)")
        #expect(ending.exitCode == 64)
        #expect(ending.isResult == false)
        #expect(ending.text.contains("\n") == false)
    }

    @Test(arguments: [("start", "play"), ("pause", "stop"), ("statsu", "status"), ("profiles sho", "show")])
    func `an unknown command names the one that was meant`(line: String, meant: String) {
        let failure = #expect(throws: Failure.self) {
            try Tactus.requireCommand(line.split(separator: " ").map(String.init))
        }
        #expect(failure?.text.hasSuffix("; did you mean '\(meant)'?") == true)
    }

    @Test(arguments: ["--help", "help run", "run --help", "status -h", "--version"])
    func `output that was asked for goes to stdout`(line: String) throws {
        let error = try #require(throws: (any Error).self) {
            var command = try Tactus.parseAsRoot(line.split(separator: " ").map(String.init))
            try command.run()
        }
        let ending = Ending(error)
        #expect(ending.isResult)
        #expect(ending.exitCode == 0)
        #expect(ending.text.contains(line == "--version" ? Tactus.configuration.version : "USAGE: tactus"))
    }

    @Test
    func `a token file contains one word`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "tactus-token-\(UUID())").path()
        defer { try? FileManager.default.removeItem(atPath: file) }
        try "correct-horse\n".write(toFile: file, atomically: false, encoding: .utf8)
        #expect(try TokenFile(file).token.get().text == "correct-horse")
        try "".write(toFile: file, atomically: false, encoding: .utf8)
        let empty = #expect(throws: Failure.self) { try TokenFile(file).token.get() }
        #expect(empty?.status == .usage)
        #expect(empty?.text == "token file \(file): must contain one word and nothing else, such as 32 random letters")
        let missing = #expect(throws: Failure.self) { try TokenFile("/nonexistent/token").token.get() }
        #expect(missing?.text == "token file /nonexistent/token: there is no such file")
    }
}
