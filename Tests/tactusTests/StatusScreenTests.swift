import BeatTime
import Gateway
import GatewayStatus
import MIDIClock
import Testing

@testable import tactus

@Suite
struct StatusScreenTests {
    private static let example: Status = {
        var status = Status.example
        status.warnings = [
            .init(code: "no-realtime", message: "real-time scheduling was refused", fix: "join group audio")
        ]
        return status
    }()

    private func screen(
        _ status: Status = example, age: Double = 0, trouble: String? = nil, said: String? = nil
    ) -> StatusScreen {
        StatusScreen(status: status, age: age, trouble: trouble, said: said, address: "http://127.0.0.1:8808")
    }

    private func text(_ screen: StatusScreen, columns: Int = 80, rows: Int = 24) -> [String] {
        screen.lines(.init(columns: columns, rows: rows)).map { line in
            String(line.text.reversed().drop { $0 == " " }.reversed())
        }
    }

    @Test
    func `the screen shows the whole status`() {
        let bar = String(repeating: "█", count: 21)
        let top = " link  Link is enabled".padded(to: 95) + "http://127.0.0.1:8808"
        var status = Self.example
        (status.outputs[0].profile, status.outputs[0].swing) = ("roland-tr-8s", 57)
        let expected = """
            \(top)

              133.70 BPM    beat 9.2      playing
              \(bar)············│················│···············

              Link       on, 1 peer, start/stop sync off, session 5949266f7c5e3128
              networks   127.0.0.1, 192.168.7.42
              follower   disabled
              ignored    MC-101 (28:0): 96 ticks, 1 transport message (Link is enabled)
              real time  fifo 80 by limits, memory locked, dispatch queue, wakes up at most 9.0 us late (99 %), 64.0 us at worst

              OUTPUT  PORT        TICKS     LATE   HALF      99 %      WORST     OFFSET    PROFILE
              Volca   absent      -         -      -         -         -         0 ms      -
              TR-8S   24:0        9120      0      8.0 us    31.0 us   64.0 us   0 ms      roland-tr-8s, swing 57 %

              ! real-time scheduling was refused
                join group audio






            space play/stop  t tap  + - nudge  r realign  l Link  s start/stop sync  q quit
            """
        #expect(text(screen(status), columns: 116).joined(separator: "\n") == expected)
    }

    @Test
    func `a long path is shown by its end and stays separate from the figures`() {
        var status = Self.example
        status.outputs[0].port = "/dev/serial/by-id/usb-Interface-if00-port0"
        (status.outputs[1].port, status.outputs[1].ticks) = ("/dev/ttyAMA0", 77)
        let lines = text(screen(status), columns: 200)
        #expect(lines.contains { $0.contains("  usb-Interface-if00-port0  9120 ") })
        #expect(lines.contains { $0.contains("  /dev/ttyAMA0              77 ") })
    }

    @Test
    func `between two answers the beat continues, and freezes without one`() {
        var status = Self.example
        (status.tempo, status.beat, status.phase) = (120, 4, 0)
        #expect(text(screen(status, age: 0.6))[2].contains("beat 2.2"))
        #expect(text(screen(status, age: 1.9))[2].contains("beat 2.4"))
        #expect(text(screen(status, age: 600))[2] == text(screen(status, age: 2))[2])
    }

    @Test
    func `a gateway that does not answer is reported first`() {
        let lines = text(screen(trouble: "no gateway answers"))
        #expect(lines.contains("no gateway answers"))
        #expect(lines.contains { $0.contains("133.70 BPM") })
    }

    @Test(arguments: [(24, 80), (60, 200), (12, 40), (5, 20), (2, 10), (1, 1), (0, 0)])
    func `the screen never exceeds the terminal`(rows: Int, columns: Int) {
        for phase in [0, 3.999_999, 4, -1, .infinity, .nan] {
            var status = Self.example
            status.phase = phase
            let lines = screen(status, trouble: "no gateway answers").lines(.init(columns: columns, rows: rows))
            #expect(lines.count == max(rows, 0) || rows < 8)
            #expect(lines.count <= rows)
            #expect(lines.allSatisfy { $0.count <= columns })
        }
    }

    @Test
    func `if space is short, warnings and outputs are kept and facts are counted`() {
        let lines = text(screen(), rows: 14)
        #expect(lines.contains { $0.contains("real-time scheduling was refused") })
        #expect(lines.contains { $0.contains("more lines") })
        #expect(lines.last?.contains("q quit") == true)
    }

    @Test
    func `ten outputs and three warnings are readable on 80 columns and 24 rows`() {
        #expect(
            text(screen(.stage)).joined(separator: "\n") == """
                 link   128.00 BPM   playing   beat 9.2    1 peer          http://127.0.0.1:8808
                  \(String(repeating: "█", count: 21))············│················│···············
                  OUTPUT                PORT         LATE            99 %      OFFSET
                  Volca Bass            absent       -               -         -3.5 ms
                  MC-101                32:0         0               31.0 us   -3.5 ms
                  DFAM                  36:0         12, 3 left out  31.0 us   -3.5 ms
                  TR-8S                 24:0         0               31.0 us   -3.5 ms
                  Digitakt              28:0         0               31.0 us   -3.5 ms
                  SH-4d                 36:0, muted  0               31.0 us   -3.5 ms
                  Sub 37 by the window  44:0         0               31.0 us   -3.5 ms
                  Clock                 128:1        0               31.0 us   -3.5 ms
                  Recorder              48:0         0               31.0 us   -3.5 ms
                  Lights                disabled     0               31.0 us   -3.5 ms
                ! Volca Bass was unplugged. It rejoins at the next bar when it is back. plug it
                  in again, and switch it on
                ! a Link peer at 192.168.7.31 is heard, but does not answer: the network keeps
                  the two apart; check that the access point does not isolate its clients, and
                  that no firewall drops UDP
                ! MC-101 has not received all messages, so it may be at the wrong place; check
                  that the device or program behind it accepts MIDI; Tactus then stops it, and
                  it rejoins at the next bar


                space play/stop  t tap  + - nudge  r realign  l Link  s start/stop sync  q quit
                """)
    }

    @Test(arguments: 1...24)
    func `in any number of rows the top stays, and what is not shown is counted`(rows: Int) throws {
        let lines = text(screen(.stage), rows: rows)
        #expect(lines.count == rows)
        #expect(["link", "128.00 BPM", "playing"].allSatisfy { lines[0].contains($0) })
        guard rows > 3 else { return }
        func missing(_ noun: String) throws -> Int {
            let note = try Regex("^  (?:and )?(\\d+) (?:more )?\(noun)s?$")
            let counts = lines.compactMap { $0.firstMatch(of: note)?.output[1].substring.flatMap { Int($0) } }
            #expect(counts.count < 2)
            return counts.first ?? 0
        }
        let names = Status.stage.outputs.map(\.name)
        let outputs = lines.count { line in names.contains { line.hasPrefix("  \($0)  ") } }
        #expect(try outputs + missing("output") == 10)
        #expect(try lines.count { $0.hasPrefix("! ") } + missing("warning") == 3)
    }

    @Test
    func `if there is no room for all, the outputs in trouble are shown`() {
        let lines = text(screen(.stage), rows: 18)
        #expect(lines.contains("  and 4 more outputs"))
        for name in ["Volca Bass", "MC-101", "DFAM"] { #expect(lines.contains { $0.hasPrefix("  \(name)  ") }) }
        #expect(lines.count { $0.hasPrefix("! ") } == 3)
    }

    @Test
    func `the keys say what undo would do, and the screen what it has done`() {
        var status = Status.stage
        status.undo = "tempo back to 126 BPM"
        #expect(
            text(screen(status)).suffix(2) == [
                "space play/stop  t tap  + - nudge  r realign  l Link  s start/stop sync",
                "u undo: tempo back to 126 BPM  q quit",
            ])
        #expect(
            text(screen(status), columns: 120).last?.hasSuffix("sync  u undo: tempo back to 126 BPM  q quit") == true)
        let undone = text(screen(status, said: "undone: tempo back to 126 BPM"))
        #expect(undone.suffix(3).first == "undone: tempo back to 126 BPM")
    }

    @Test
    func `every key does what the last line says`() {
        func keys(_ text: String) -> [WatchKey] {
            WatchKey.read(Array(text.utf8), at: HostTime(microseconds: 1_500), .example)
        }
        #expect(keys(" ") == [.command(.setPlaying(false))])
        #expect(keys("t") == [.command(.tap(at: HostTime(microseconds: 1_500)))])
        #expect(
            keys("+-=") == [1, -1, 1].map { .command(.adjust(output: nil, OutputAdjustment(nudge: $0))) })
        #expect(keys("u") == [.command(.undo)])
        #expect(keys("l") == [.command(.enableLink(false))])
        #expect(keys("s") == [.command(.enableStartStopSync(true))])
        #expect(keys("r") == [.command(.realign(output: nil, .atBar))])
        #expect(keys("q") == [.quit] && keys("\u{4}") == [.quit])
        #expect(keys("\u{1B}[A").isEmpty && keys("\u{1B}Os").isEmpty && keys("xyzé\u{0}").isEmpty)
        // Keys that arrive together with arrow keys count.
        let rest = keys("\u{1B}[1;5sr\u{1B}Osr\u{1B}lr\u{1B}[")
        #expect(rest == Array(repeating: .command(.realign(output: nil, .atBar)), count: 3))
    }
}
