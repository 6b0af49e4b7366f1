import ALSASequencer
import GatewayStatus
import Testing

@testable import tactus

@Suite
struct StatusTextTests {
    @Test
    func `the status ends with the most important`() {
        var status = Status.example
        status.warnings = [
            .init(code: "no-realtime", message: "real-time scheduling was refused", fix: "join group audio")
        ]
        #expect(
            StatusText.lines(status, width: nil).joined(separator: "\n") == """
                networks   127.0.0.1, 192.168.7.42
                follower   disabled
                ignored    MC-101 (28:0): 96 ticks, 1 transport message (Link is enabled)
                real time  fifo 80 by limits, memory locked, dispatch queue, wakes up at most 9.0 us late (99 %), 64.0 us at worst

                OUTPUT  PORT        TICKS     LATE   HALF      99 %      WORST     OFFSET    PROFILE
                Volca   absent      -         -      -         -         -         0 ms      -
                TR-8S   24:0        9120      0      8.0 us    31.0 us   64.0 us   0 ms      -

                warning    real-time scheduling was refused
                  fix      join group audio

                link       on, 1 peer, start/stop sync off, session 5949266f7c5e3128
                mode       link (Link is enabled)
                tempo      133.7 BPM
                beat       33.25, phase 1.25 of 4
                transport  playing
                """)
    }

    @Test
    func `on a terminal with 80 columns and 24 rows, what matters of a stage stays in sight`() {
        let lines = StatusText.lines(.stage, width: 80)
        #expect(lines.allSatisfy { $0.count <= 80 })
        // The prompt takes a line, too.
        let sight = lines.suffix(23).joined(separator: "\n")
        for words in ["tempo      128 BPM", "transport  playing", "mode       link"] { #expect(sight.contains(words)) }
        let prose = sight.split(separator: "\n").map { $0.split(separator: " ") }.joined().joined(separator: " ")
        for warning in Status.stage.warnings {
            #expect(prose.contains("warning \(warning.message) fix \(warning.fix)"))
        }
        for output in Status.stage.outputs {
            #expect(lines.count { $0.contains(output.name) && $0.contains(" ms") } == 1)
        }
    }

    @Test
    func `each output has one line, those in trouble the first`() {
        let rows = OutputRows(.stage, width: nil).rows.map(\.text)
        #expect(rows.count == 10)
        #expect(rows[0].hasPrefix("Volca Bass ") && rows[0].contains("absent"))
        #expect(rows[1].hasPrefix("MC-101 "), "a warning is about it")
        #expect(rows[2].hasPrefix("DFAM ") && rows[2].contains("12, 3 left out"), "it was late in the last minute")
        #expect(rows[3].hasPrefix("TR-8S ") && rows[3].hasSuffix("roland-tr-8s, times 2, swing 57 %"))
        #expect(rows[9].hasPrefix("Lights ") && rows[9].contains("disabled"))
        #expect(rows.contains { $0.contains("36:0, muted") } && rows.contains { $0.contains("time code 25") })
        var bent = Status.stage
        bent.outputs[5].bend = Status.Bend(percent: 4, milliseconds: -35.4)
        #expect(OutputRows(bent, width: nil).rows.contains { $0.text.contains("36:0, muted, -35 ms") })
    }

    @Test(arguments: [(16, 4, "4 bars"), (4, 4, "1 bar"), (16, 3, "5.33 bars"), (16, 2.5, "16 bars")])
    func `while no song plays, an output says after how many bars of the next one it enters`(
        beat: Double, quantum: Double, bars: String
    ) {
        var status = Status.stage
        (status.outputs[2].changesAtBeat, status.quantum) = (beat, quantum)
        #expect(!OutputRows(status, width: nil).rows.contains { $0.text.contains("enters") })
        status.playing = false
        let row = OutputRows(status, width: nil).rows.first { $0.text.hasPrefix("MC-101") }
        #expect(row?.text.contains("32:0, enters after \(bars) ") == true)
    }

    @Test
    func `on narrow terminals, name, port and lateness stay longest`() {
        func titles(_ width: Int) -> [Substring] { OutputRows(.stage, width: width).heading.split(separator: "  ") }
        let all = titles(200).map { $0.trimmingPrefix(" ") }
        #expect(all == ["OUTPUT", "PORT", "TICKS", "LATE", "HALF", "99 %", "WORST", "OFFSET", "PROFILE"])
        var last = all
        for width in (0...200).reversed() {
            let (shown, rows) = (titles(width).map { $0.trimmingPrefix(" ") }, OutputRows(.stage, width: width).rows)
            #expect(shown.allSatisfy { last.contains($0) })
            #expect(shown.count == 1 || rows.allSatisfy { $0.text.count <= width })
            last = shown
        }
        #expect(titles(72).map { $0.trimmingPrefix(" ") } == ["OUTPUT", "PORT", "LATE", "99 %", "OFFSET"])
        #expect(titles(40).map { $0.trimmingPrefix(" ") } == ["OUTPUT", "PORT"])
    }

    @Test
    func `IDs are shown if the names do not tell them`() {
        var status = Status.example
        (status.outputs[0].name, status.outputs[0].id) = ("Volca", "volca-2")
        #expect(OutputRows(status, width: 80).rows[1].text.hasPrefix("Volca   volca-2  24:0 "))
        (status.outputs[0].name, status.outputs[0].id) = ("Volca Bass 2", "volca-bass-2")
        #expect(OutputRows(status, width: 80).rows[1].text.hasPrefix("Volca Bass 2  24:0 "))
    }

    @Test
    func `if names are long, their beginnings and ends are shown`() {
        var status = Status.example
        let name = "USB MIDI Interface with many ports:USB MIDI Interface with many ports MIDI 3"
        (status.outputs[0].name, status.outputs[0].id) = (name, name.lowercased())
        #expect(OutputRows(status, width: nil).rows[1].text.hasPrefix("\(name)  24:0 "))
        #expect(OutputRows(status, width: 80).rows[1].text.hasPrefix("USB MIDI Interfa…ny ports MIDI 3  24:0 "))
    }

    @Test
    func `a beat or bar that is still to come has not been reached`() {
        var status = Status.example
        (status.beat, status.phase) = (-0.004, 3.996)
        #expect(StatusText.lines(status, width: nil).contains("beat       -0.01, phase 3.99 of 4"))
    }

    @Test
    func `a service manager gets one line that does not change with every beat`() {
        #expect(StatusText.service(.example) == "link, 133.7 BPM, 1 peer, playing, 1 output")
        var status = Status.example
        (status.beat, status.startsInBeats) = (34.5, 2.5)
        #expect(StatusText.service(status) == StatusText.service(.example))
        status.warnings = [.init(code: "x", message: "y", fix: "z")]
        #expect(StatusText.service(status).hasSuffix(", 1 warning"))
    }

    @Test
    func `the live line never exceeds the terminal`() {
        let line = "link   133.70 BPM   beat 9.2   1 peer   playing"
        #expect(StatusText.live(.example, width: 80) == line)
        for width in [0, 1, 20, line.count] {
            #expect(StatusText.live(.example, width: width) == String(line.prefix(width)))
        }
    }

    @Test(arguments: [
        (0, 0, 4, "beat 1.1"), (3.999, 3.999, 4, "beat 1.4"), (4, 0, 4, "beat 2.1"), (-0.5, 3.5, 4, "beat 0.4"),
        (-4.5, 3.5, 4, "beat -1.4"), (10.5, 1.5, 3, "beat 4.2"), (33.25, 0, 0, "beat 33.25"),
        (33.25, 0.25, 0.5, "beat 33.25"), (7.1, 2.1, 2.5, "beat 7.1"),
    ])
    func `beats are counted in bars if the quantum is a bar`(
        beat: Double, phase: Double, quantum: Double, text: String
    ) {
        var status = Status.example
        (status.beat, status.phase, status.quantum) = (beat, phase, quantum)
        #expect(StatusText.live(status, width: 80).contains("   \(text)   "))
    }

    @Test
    func `a pending start is counted down`() {
        var status = Status.example
        (status.transport, status.startsInBeats) = (.pending, 2.54)
        #expect(StatusText.transport(status) == "starts in 2.5 beats")
        status.startsInBeats = 0.01
        #expect(StatusText.transport(status) == "starting")
        (status.transport, status.startsInBeats) = (.stopped, nil)
        #expect(StatusText.transport(status) == "stopped")
    }

    @Test
    func `ports are listed with their directions`() throws {
        let ports = [
            PortDescription(
                address: PortAddress(client: 24, port: 0), clientName: "TR-8S", portName: "TR-8S MIDI 1",
                isReadable: true, isWritable: true),
            PortDescription(
                address: PortAddress(client: 128, port: 1), clientName: "Tactus", portName: "Clock", isReadable: true,
                isWritable: false),
        ]
        #expect(
            PortsCommand.table(ports) == """
                PORT    TAKES  SENDS  NAME
                24:0    yes    yes    TR-8S:TR-8S MIDI 1
                128:1   -      yes    Tactus:Clock
                """)
        #expect(
            try PortsCommand.json([ports[1]])
                == #"[{"client":128,"clientName":"Tactus","port":1,"portName":"Clock","sends":true,"takes":false}]"#)
        #expect(PortsCommand.table([]) == "no MIDI ports; connect a device")
    }
}

extension Status {
    static let example = Status(
        version: "0.1.0", mode: .link, reason: "Link is enabled", tempo: 133.7, beat: 33.25, phase: 1.25, quantum: 4,
        playing: true, transport: .playing, startsInBeats: nil,
        link: .init(
            enabled: true, active: true, connected: true, peers: 1, sessionId: "5949266f7c5e3128", startStopSync: false,
            interfaces: ["127.0.0.1", "192.168.7.42"], measurementErrorMicroseconds: 12),
        follower: .init(
            state: .disabled, refusedTicks: 96, refusedTransport: 1,
            refused: [.init(port: "28:0", name: "MC-101", reason: "Link is enabled", ticks: 96, transport: 1)]),
        outputs: [
            .init(
                id: "tr-8s", name: "TR-8S", profile: nil, port: "24:0", connected: true, enabled: true, ticks: 9120,
                lateTicks: 0, offsetMilliseconds: 0, multiply: 1, divide: 1, swing: 50,
                latenessMicroseconds: .init(p50: 8, p99: 31, max: 64)),
            .init(
                id: "volca", name: "Volca", profile: nil, port: nil, connected: false, enabled: true, ticks: 0,
                lateTicks: 0, offsetMilliseconds: 0, multiply: 1, divide: 1, swing: 50, latenessMicroseconds: nil),
        ],
        realtime: .init(
            scheduling: "fifo", priority: 80, memoryLocked: true, dispatch: "queue",
            wakeUpLatencyMicroseconds: .init(p50: 4, p99: 9, max: 64)), warnings: [])
}

extension Status {
    /// Ten outputs and three warnings.
    static let stage: Status = {
        func output(_ name: String, _ port: String?, profile: String? = nil) -> Output {
            Output(
                id: name.lowercased().replacing(" ", with: "-"), name: name, profile: profile, port: port,
                connected: port != nil, enabled: true, ticks: port == nil ? 0 : 140_312, lateTicks: 0,
                offsetMilliseconds: -3.5, multiply: 1, divide: 1, swing: 50,
                latenessMicroseconds: port == nil ? nil : .init(p50: 8, p99: 31, max: 141_203))
        }
        var status = Status.example
        status.tempo = 128
        status.outputs = [
            output("TR-8S", "24:0", profile: "roland-tr-8s"), output("Digitakt", "28:0", profile: "elektron-digitakt"),
            output("MC-101", "32:0"), output("Volca Bass", nil, profile: "korg-volca"), output("DFAM", "36:0"),
            output("SH-4d", "36:0"), output("Lights", "40:0"), output("Sub 37 by the window", "44:0"),
            output("Clock", "128:1"), output("Recorder", "48:0"),
        ]
        (status.outputs[0].multiply, status.outputs[0].swing) = (2, 57)
        (status.outputs[4].lateTicks, status.outputs[4].skippedTicks) = (12, 3)
        status.outputs[4].lastMinute = .init(ticks: 2_880, lateTicks: 40, maxMicroseconds: 141_203, timing: .late)
        (status.outputs[5].muted, status.outputs[6].enabled, status.outputs[9].timeCode) = (true, false, "25")
        status.warnings = [
            .init(
                code: "output-away", message: "Volca Bass was unplugged. It rejoins at the next bar when it is back.",
                fix: "plug it in again, and switch it on", output: "volca-bass"),
            .init(
                code: "link-unreachable",
                message: "a Link peer at 192.168.7.31 is heard, but does not answer: the network keeps the two apart",
                fix: "check that the access point does not isolate its clients, and that no firewall drops UDP"),
            .init(
                code: "out-of-step", message: "MC-101 has not received all messages, so it may be at the wrong place",
                fix: "check that the device or program behind it accepts MIDI; Tactus then stops it, and it rejoins at "
                    + "the next bar", output: "mc-101"),
        ]
        return status
    }()
}
