import ALSASequencer
import GatewayStatus
import Testing

@testable import tactus

@Suite
struct StatusTextTests {
    @Test
    func `the status is shown in a few lines`() {
        var status = Status.example
        status.warnings = [
            .init(code: "no-realtime", message: "real-time scheduling was refused", fix: "join group audio")
        ]
        #expect(
            StatusText.lines(status).joined(separator: "\n") == """
                mode       link (Link is enabled)
                tempo      133.7 BPM
                beat       33.25, phase 1.25 of 4
                transport  playing
                link       on, 1 peer, start/stop sync off, session 5949266f7c5e3128
                networks   127.0.0.1, 192.168.7.42
                follower   disabled
                ignored    MC-101 (28:0): 96 ticks, 1 transport message (Link is enabled)
                output     TR-8S, 24:0: 9120 ticks, 0 late, 99 % at most 31 us late
                output     Volca, not connected
                real time  fifo 80 by limits, memory locked, dispatch queue, wakes up at most 9 us late (99 %), 64 us at worst
                warning    real-time scheduling was refused
                  fix      join group audio
                """)
    }

    @Test
    func `a beat or bar that is still to come has not been reached`() {
        var status = Status.example
        (status.beat, status.phase) = (-0.004, 3.996)
        #expect(StatusText.lines(status).contains("beat       -0.01, phase 3.99 of 4"))
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
