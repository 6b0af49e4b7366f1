import ControlServer
import GatewayStatus
import Testing

@testable import tactus

@Suite
struct StartTextTests {
    private func output(_ name: String, profile: String?, port: String?) -> Status.Output {
        Status.Output(
            id: name.lowercased(), name: name, profile: profile, port: port, connected: port != nil, enabled: true,
            ticks: 0, lateTicks: 0, offsetMilliseconds: 0, multiply: 1, divide: 1, swing: 50,
            latenessMicroseconds: nil)
    }

    private func status(_ outputs: [Status.Output]) -> Status {
        Status(
            version: "1", mode: .internal, reason: "", tempo: 120, beat: 0, phase: 0, quantum: 4, playing: false,
            transport: .stopped, startsInBeats: nil,
            link: .init(
                enabled: false, active: false, connected: false, peers: 0, sessionId: nil, startStopSync: false,
                interfaces: [], measurementErrorMicroseconds: nil),
            follower: .init(state: .off), outputs: outputs,
            realtime: .init(
                scheduling: "other", priority: 0, memoryLocked: false, dispatch: "direct",
                wakeUpLatencyMicroseconds: nil),
            warnings: [])
    }

    @Test
    func `the start tells the panel and each output`() {
        let outputs = [
            output("Clock", profile: nil, port: "128:0"), output("TR-8S", profile: "roland-tr-8s", port: "24:0"),
            output("Volca\u{1B}", profile: nil, port: nil),
        ]
        #expect(
            StartText.lines(status(outputs), panel: ["http://10.0.0.5:8808", "http://10.1.0.5:8808"], wantsToken: true)
                == [
                    "Panel: http://10.0.0.5:8808, http://10.1.0.5:8808 (asks for the token)", "Output: Clock, 128:0",
                    "Output: TR-8S, 24:0, profile roland-tr-8s", "Output: Volca , not connected",
                ])
        #expect(StartText.lines(status([]), panel: [], wantsToken: false).isEmpty)
    }

    @Test(arguments: [
        ("127.0.0.1:8808", ["10.0.0.5"], ["http://127.0.0.1:8808"]),
        ("0.0.0.0:80", ["10.0.0.5", "10.1.0.5"], ["http://10.0.0.5:80", "http://10.1.0.5:80"]),
        ("[::]:80", ["10.0.0.5"], ["http://10.0.0.5:80"]), ("0.0.0.0:80", [], ["http://127.0.0.1:80"]),
        ("10.0.0.7:9000", ["10.0.0.5"], ["http://10.0.0.7:9000"]),
    ])
    func `the panel is named by the addresses that others reach`(address: String, local: [String], urls: [String])
        throws
    {
        #expect(PanelAddress.urls(of: try #require(HTTPAddress(address)), local: local) == urls)
    }

    @Test(
        arguments: [
            ("127.0.0.1:8808", ["10.0.0.5"], []), ("0.0.0.0:80", [], []), ("[::]:80", [], []),
            ("0.0.0.0:80", ["10.0.0.5"], ["http://10.0.0.5:80"]), ("10.0.0.7:9000", [], ["http://10.0.0.7:9000"]),
        ] as [(String, [String], [String])])
    func `a code is only made of an address that others may reach`(address: String, local: [String], urls: [String])
        throws
    {
        #expect(PanelAddress.urlsForOthers(of: try #require(HTTPAddress(address)), local: local) == urls)
    }

    @Test(
        arguments: [
            ("0.0.0.0:80", .all), ("[::]:80", .all), ("10.0.0.7:80", .one(3)), ("[fd00::7]:80", .one(4)),
            ("10.0.0.8:80", nil), ("10.0.0.9:80", nil),
        ] as [(String, PanelAddress.Interface?)])
    func `a panel with one address is reached on the interface that has it`(
        address: String, interface: PanelAddress.Interface?
    ) throws {
        let local = [
            MachineAddress(text: "10.0.0.5", interface: 2), MachineAddress(text: "10.0.0.7", interface: 3),
            MachineAddress(text: "fd00::7", interface: 4, isIPv6: true),
            MachineAddress(text: "10.0.0.9", interface: 0),  // an interface that has just gone
        ]
        #expect(PanelAddress.interface(of: try #require(HTTPAddress(address)), among: local) == interface)
    }

    @Test
    func `the loopback interface has its addresses in the system's list`() {
        let loopback = MachineAddress.all.filter { $0.text == "127.0.0.1" }
        #expect(loopback.count == 1 && loopback.allSatisfy { $0.isLoopback && !$0.isIPv6 && $0.interface > 0 })
    }

    @Test
    func `an address that no code takes is refused, with what helps`() throws {
        let token = try #require(BearerToken(String(repeating: "x", count: 300)))
        let failure = #expect(throws: Failure.self) {
            try PanelAddress.code("http://10.0.0.5:8808", token: token, isTerminal: false)
        }
        #expect(failure?.text.hasSuffix("its QR code can hold 271; use a shorter token") == true)
        let long = #expect(throws: Failure.self) {
            try PanelAddress.code(
                "http://10.0.0.5:8808/" + String(repeating: "x", count: 300), token: nil, isTerminal: false)
        }
        #expect(long?.text.hasSuffix("use a shorter --url") == true)
        #expect(long?.text.contains("token") == false)
        let short = try PanelAddress.code("http://10.0.0.5:8808", token: nil, isTerminal: true)
        #expect(short.allSatisfy { $0.hasPrefix("\u{1B}[97;40m█") && $0.hasSuffix("\u{1B}[0m") })
    }

    @Test(arguments: [
        ("http://127.0.0.1:8808", true), ("http://localhost", true), ("http://[::1]:80", true),
        ("http://0.0.0.0:8808", true), ("http://[::]:8808", true),
        ("http://rack.local:8808", false), ("http://10.0.0.5", false),
    ])
    func `an address of this machine is recognized`(url: String, isLoopback: Bool) throws {
        #expect(try ControlURL(argument: url).isLoopback == isLoopback)
    }
}
