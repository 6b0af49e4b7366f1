import Testing

@testable import ALSASequencer

@Suite
struct PortMatchTests {
    private static func port(_ client: Int, _ clientName: String, _ portName: String) -> PortDescription {
        PortDescription(
            address: PortAddress(client: client, port: 0), clientName: clientName, portName: portName, isReadable: true,
            isWritable: true)
    }

    private let ports = [
        port(14, "Midi Through", "Midi Through Port-0"),
        port(24, "TR-8S", "TR-8S MIDI 1"),
        port(25, "TR-8S", "TR-8S MIDI 2"),
        port(28, "Elektron Model:Samples", "Elektron Model:Samples MIDI 1"),
        port(32, "MC-101", "MC-101 MIDI 1"),
    ]

    @Test(arguments: [
        ("TR-8S MIDI 1", 24), ("tr-8s midi 2", 25), ("  MC-101 MIDI 1  ", 32), ("mc-101", 32), ("through", 14),
        ("Elektron Model:Samples", 28), ("model:samples", 28), ("MC-101:MC-101 MIDI 1", 32),
    ])
    func `a name finds its port whatever its case, its spaces and its colons`(name: String, client: Int) {
        guard case .found(let port) = PortMatch.find(name, among: ports) else {
            Issue.record("\(name) found nothing")
            return
        }
        #expect(port.address.client == client)
    }

    @Test(arguments: ["TR-8S", "midi"])
    func `a name that several ports answer to is not guessed at`(name: String) {
        guard case .ambiguous(let candidates) = PortMatch.find(name, among: ports) else {
            Issue.record("\(name) found one")
            return
        }
        #expect(candidates.count > 1)
    }

    @Test
    func `a whole name wins over names that contain it`() {
        let ports = ports + [Self.port(40, "Other", "TR-8S")]
        #expect(PortMatch.find("tr-8s", among: ports) == .found(Self.port(40, "Other", "TR-8S")))
    }

    @Test
    func `an unknown name finds nothing`() {
        #expect(PortMatch.find("Volca", among: ports) == .none)
    }
}
