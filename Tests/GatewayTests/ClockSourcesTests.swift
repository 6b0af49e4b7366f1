import ALSASequencer
import Arbiter
import ConfigurationFiles
import Glibc
import MIDIClock
import Testing

@testable import Gateway

@Suite
struct ClockSourcesTests {
    private static func port(_ client: Int, _ clientName: String, _ portName: String, sends: Bool = true)
        -> PortDescription
    {
        PortDescription(
            address: PortAddress(client: client, port: 0), clientName: clientName, portName: portName,
            isReadable: sends, isWritable: true)
    }

    private static let ports = [
        port(14, "Midi Through", "Midi Through Port-0"), port(24, "TR-8S", "TR-8S MIDI 1"),
        port(25, "MPC One", "MPC One MIDI 1"), port(26, "MPC One", "MPC One MIDI 2"),
        port(28, "Volca", "Volca MIDI 1", sends: false), port(130, "Tactus", "Clock"), port(140, "Tactus", "Clock"),
    ]
    private static let own: Set<Int> = [129, 130, 131]

    private static func sources(_ choice: String, device: ClockInput.Device? = nil) throws -> ClockSources {
        ClockSources(try FollowChoice(choice), ports: ports, own: own, device: device)
    }

    @Test(arguments: [
        ("TR-8S", UInt8(24)), ("tr-8s midi 1", 24), ("  through ", 14), ("24:0", 24), ("MPC One MIDI 2", 26),
        ("Tactus:Clock", 140), ("140:0", 140),
    ])
    func `a port is found by name, part of a name or number`(text: String, client: UInt8) throws {
        let sources = try Self.sources(text)
        #expect(sources.chosen == .port(client: client, port: 0))
        #expect(!sources.isAway)
        #expect(sources.trouble == nil)
    }

    @Test(
        arguments: [
            ("Elektron", nil), ("24:1", nil), ("Volca", nil),
            (
                "MPC One",
                "several ports match MPC One; write one of: 'MPC One MIDI 1' (25:0), 'MPC One MIDI 2' (26:0)"
            ),
            ("130:0", "that is a port of this gateway itself"),
        ] as [(String, String?)])
    func `a port that is missing, sends nothing, is ours or ambiguous counts as absent`(
        text: String, trouble: String?
    ) throws {
        let sources = try Self.sources(text)
        #expect(sources.chosen == nil)
        #expect(sources.isAway)
        #expect(sources.trouble?.reason == trouble)
    }

    @Test
    func `without a raw device auto chooses nobody and is never absent`() throws {
        let sources = try Self.sources("auto")
        #expect(sources.chosen == nil)
        #expect(!sources.isAway)
    }

    @Test
    func `auto means the raw device, and off means nobody`() throws {
        let there = ClockInput.Device(name: "hw:1,0", isThere: true)
        let away = ClockInput.Device(name: "hw:1,0", trouble: ALSAError(operation: "card 1", code: -ENODEV))
        #expect(try Self.sources("auto", device: there).chosen == .device)
        #expect(try Self.sources("auto", device: away).chosen == nil)
        #expect(try Self.sources("auto", device: away).isAway)
        #expect(try Self.sources("auto", device: away).trouble?.reason == "card 1: No such device")
        #expect(try Self.sources("TR-8S", device: away).chosen == .port(client: 24, port: 0))
        #expect(try Self.sources("off", device: there).chosen == nil)
        #expect(try !Self.sources("off", device: away).isAway)
    }

    @Test(arguments: [
        ("off", FollowChoice.off), (" auto ", .auto), ("TR-8S", .port("TR-8S")), ("  MPC One  ", .port("MPC One")),
        ("191:253", .port("191:253")), ("Auto", .port("Auto")),
        (String(repeating: "x", count: 127), .port(String(repeating: "x", count: 127))),
    ])
    func `a choice is off, auto or a port`(text: String, choice: FollowChoice) throws {
        #expect(try FollowChoice(text) == choice)
        #expect(try FollowChoice(choice.text) == choice)
    }

    @Test(arguments: [
        "", "   ", "192:0", "24:254", "99999999999999999999:0", "TR\n8S", "\u{1B}[2J",
        String(repeating: "x", count: 128),
    ])
    func `an impossible port name is refused with a reason`(text: String) {
        #expect(throws: FollowChoice.ParseError.self) { try FollowChoice(text) }
    }

    @Test
    func `profiles say who may lead automatically, and who never while it receives our clock`() throws {
        let library = try ProfileLibrary.of([
            "leader": "match: [TR-8S MIDI 1]\ninput: { role: leader, echoes: true }",
            "remote": "match: [MPC One MIDI 1]\ninput: { transport: true }",
        ])
        let (drums, remote) = (ClockSource.port(client: 24, port: 0), ClockSource.port(client: 25, port: 0))
        let cable = ClockSource.port(client: 14, port: 0)
        var sources = try Self.sources("auto")
        sources.recognise(Self.ports, by: library.profile(of:))
        #expect(sources.wanted == [drums, remote])
        sources.names = [drums: "TR-8S", remote: "MPC", cable: "Through"]
        sources.subscribedByUser = [cable]
        #expect(sources.remotes == [remote])
        #expect(sources.leaders(driven: []) == .anyOf([drums, cable]))
        #expect(sources.leaders(driven: [drums]) == .anyOf([cable]))
        #expect(sources.unsafeLeaders(driven: [drums]) == [drums])

        var off = try Self.sources("off")
        off.recognise(Self.ports, by: library.profile(of:))
        #expect(off.wanted == [remote])
        #expect(off.leaders(driven: []) == .none)

        var named = try Self.sources("TR-8S")
        named.recognise(Self.ports, by: library.profile(of:))
        #expect(named.leaders(driven: []) == .only(drums))
        #expect(named.leaders(driven: [drums]) == .only(nil))
    }
}
