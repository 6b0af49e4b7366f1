import ALSASequencer
import Testing

@testable import tactus

@Suite
struct HeardPortsTests {
    private func port(_ client: Int, _ name: String, of clientName: String? = nil, sends: Bool = true)
        -> PortDescription
    {
        PortDescription(
            address: PortAddress(client: client, port: 0), clientName: clientName ?? name, portName: name,
            isReadable: sends, isWritable: true)
    }

    @Test
    func `ports are heard as they appear, and reported as they appear and disappear`() {
        var heard = HeardPorts()
        var asked: [PortAddress] = []
        func update(_ ports: PortDescription...) -> [String] {
            heard.update(ports) { port in
                asked.append(port)
                return true
            }
        }
        #expect(update().isEmpty)
        #expect(heard.line == "no port to listen to yet; connect the device to press")
        let (pedal, pad) = (port(24, "FCB1010"), port(28, "Pad"))
        #expect(update(pedal) == ["FCB1010 appeared"])
        #expect(update(pedal, pad) == ["Pad appeared"])
        #expect(heard.line == "listening to FCB1010, Pad")
        // A port unplugged and replugged between two updates has lost its subscription.
        asked = []
        #expect(update(pedal, pad).isEmpty)
        #expect(asked == [pedal.address, pad.address])
        #expect(update(pad) == ["FCB1010 is gone"])
        #expect(heard.line == "listening to Pad")
    }

    @Test
    func `ports that send nothing and our own ports are not heard`() {
        var heard = HeardPorts()
        let ports = [
            port(0, "Timer", of: "System"), port(20, "Synth", sends: false), port(128, "Clock", of: "Tactus"),
            port(24, "Pedal"),
        ]
        #expect(heard.update(ports) { _ in true } == ["Pedal appeared"])
        #expect(heard.ports == [ports[3]])
    }

    @Test
    func `a port in exclusive use by another program is tried again`() {
        var heard = HeardPorts()
        let pedal = port(24, "Pedal")
        #expect(heard.update([pedal]) { _ in false }.isEmpty)
        #expect(heard.ports.isEmpty)
        #expect(heard.update([pedal]) { _ in true } == ["Pedal appeared"])
    }

    @Test
    func `ports with the same name are told apart`() {
        var heard = HeardPorts()
        let ports = [port(24, "MIDI 1", of: "Pedal"), port(28, "MIDI 1", of: "Pad")]
        _ = heard.update(ports) { _ in true }
        #expect(heard.line == "listening to Pedal:MIDI 1, Pad:MIDI 1")
        #expect(heard.update([ports[0]]) { _ in true } == ["Pad:MIDI 1 is gone"])
    }
}
