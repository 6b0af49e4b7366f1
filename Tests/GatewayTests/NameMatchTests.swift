import ALSASequencer
import Testing

@testable import Gateway

@Suite
struct NameMatchTests {
    private let ports: [PortDescription] = [
        .device(14, "Midi Through", "Midi Through Port-0"), .device(24, "TR-8S", "TR-8S MIDI 1"),
        .device(25, "TR-8S", "TR-8S MIDI 2"), .device(28, "Elektron Model:Samples", "Elektron Model:Samples MIDI 1"),
        .device(32, "MC-101", "MC-101 MIDI 1"),
    ]
    private let outputs = [
        NamedOutput(id: "clock", name: "Clock"), NamedOutput(id: "din-1", name: "DIN 1"),
        NamedOutput(id: "din-2", name: "DIN 2"), NamedOutput(id: "dev-ttyama0", name: "/dev/ttyAMA0"),
    ]

    /// An output as far as names are concerned.
    private struct NamedOutput: Named, Equatable {
        static let kind = "output"
        var id: String
        var name: String
        var names: [[String]] { [[id], [name]] }
        var furtherNames: [String] = []
    }

    @Test
    func `an output is also found by its profile's name, unless another is called so`() throws {
        var outputs = outputs
        outputs[1].furtherNames = ["korg-volca"]
        #expect(NameMatch("volca", among: outputs) == .found(outputs[1]))
        #expect(NameMatch("korg-v", among: outputs) == .found(outputs[1]))
        outputs[2].furtherNames = ["korg-volca"]
        #expect(NameMatch("volca", among: outputs) == .ambiguous([outputs[1], outputs[2]]))
        outputs[3].name = "My Volca"
        #expect(NameMatch("volca", among: outputs) == .found(outputs[3]))
    }

    @Test(arguments: [
        ("TR-8S MIDI 1", 24), ("tr-8s midi 2", 25), ("  MC-101 MIDI 1  ", 32), ("mc-101", 32), ("through", 14),
        ("Elektron Model:Samples", 28), ("model:samples", 28), ("MC-101:MC-101 MIDI 1", 32), ("25:0", 25),
        (" 024:00 ", 24),
    ])
    func `a port is found by number, name or part of a name, ignoring case, spaces and colons`(
        name: String, client: Int
    ) throws {
        #expect(try NameMatch.resolve(name, among: ports).address.client == client)
    }

    @Test(arguments: [
        ("clock", "clock"), ("Clock", "clock"), ("DIN 1", "din-1"), ("din-2", "din-2"), ("n 2", "din-2"),
        ("ttyama", "dev-ttyama0"), ("/dev/ttyAMA0", "dev-ttyama0"),
    ])
    func `an output is found by ID, name or part of either`(name: String, id: String) throws {
        #expect(try NameMatch.resolve(name, among: outputs).id == id)
    }

    @Test
    func `a full name wins over names that contain it, and an ID over a name`() {
        let ports = ports + [PortDescription.device(40, "Other", "TR-8S")]
        #expect(NameMatch("tr-8s", among: ports) == .found(ports[5]))
        let twins = [NamedOutput(id: "drums-2", name: "drums"), NamedOutput(id: "drums", name: "drums-2")]
        #expect(NameMatch("drums", among: twins) == .found(twins[1]))
        #expect(NameMatch("drums-2", among: twins) == .found(twins[0]))
    }

    @Test(arguments: ["Volca", "", "  ", "24:1", "300:0"])
    func `an unknown name finds nothing, and a number is never a part of a name`(name: String) {
        let ports = ports + [PortDescription.device(41, "A 24:1 B", "C 300:0 D")]
        #expect(NameMatch(name, among: ports) == .none)
    }

    @Test(arguments: [
        ("din1", "no output is called din1; there are: clock, din-1, din-2, dev-ttyama0; did you mean 'din-1'?"),
        ("organ", "no output is called organ; there are: clock, din-1, din-2, dev-ttyama0"),
        ("din", "several outputs match din; write one of: din-1, din-2"),
    ])
    func `for an unclear output name the message says what to write`(name: String, message: String) {
        let error = #expect(throws: UnclearName.self) { try NameMatch.resolve(name, among: outputs) }
        #expect(error?.description == message)
        #expect(error?.isAmbiguous == (name == "din"))
    }

    @Test(arguments: [
        ("TR-8S", "several ports match TR-8S; write one of: 'TR-8S MIDI 1' (24:0), 'TR-8S MIDI 2' (25:0)"),
        ("mc101", "did you mean 'MC-101'?"),
    ])
    func `for an unclear port name the message says what to write`(name: String, ending: String) {
        let error = #expect(throws: UnclearName.self) { try NameMatch.resolve(name, among: ports) }
        #expect(error?.description.hasSuffix(ending) == true)
    }

    @Test
    func `equal names are told apart by client, by card, or by number`() {
        func advice(_ ports: [PortDescription]) -> String? {
            let error = #expect(throws: UnclearName.self) { try NameMatch.resolve("MIDI 1", among: ports) }
            return error?.description.split(separator: ": ", maxSplits: 1).last.map(String.init)
        }
        #expect(
            advice([.device(24, "TR-8S", "MIDI 1"), .device(28, "Volca", "MIDI 1")])
                == "'TR-8S:MIDI 1' (24:0), 'Volca:MIDI 1' (28:0)")
        #expect(
            advice([.device(24, "TR-8S", "MIDI 1", card: 1), .device(28, "TR-8S", "MIDI 1", card: 4)])
                == "'card1:MIDI 1' (24:0), 'card4:MIDI 1' (28:0)")
        #expect(advice([.device(128, "X", "MIDI 1"), .device(129, "X", "MIDI 1")]) == "128:0, 129:0")
    }

    @Test
    func `a long list is shortened, and says so`() {
        let many = (0..<20).map { NamedOutput(id: "pad-\($0)", name: "Pad \($0)") }
        let error = #expect(throws: UnclearName.self) { try NameMatch.resolve("pad", among: many) }
        #expect(error?.description.hasSuffix("pad-6, pad-7 and 12 more") == true)
        let none = #expect(throws: UnclearName.self) { try NameMatch.resolve("pad", among: [NamedOutput]()) }
        #expect(none?.description == "no output is called pad; there are no outputs")
    }
}
