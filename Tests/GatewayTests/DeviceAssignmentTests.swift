import ALSASequencer
import ConfigurationFiles
import Testing

@testable import Gateway

@Suite
struct DeviceAssignmentTests {
    private let library: ProfileLibrary

    init() throws {
        library = try .of(["drums": #"match: ["TR-8S MIDI 1"]"#, "deluge": "match: [Deluge]"])
    }

    private func assignment(
        _ outputs: [Output], _ ports: [PortDescription], connectsRecognised: Bool = true
    ) -> DeviceAssignment {
        DeviceAssignment(outputs, among: ports, library: library, connectsRecognised: connectsRecognised)
    }

    private let drums = PortDescription.device(24, "TR-8S", "TR-8S MIDI 1", card: 1, at: "usb-1")
    private let drumsSecond = PortDescription.device(24, "TR-8S", "TR-8S MIDI 2", port: 1, card: 1, at: "usb-1")
    private let twin = PortDescription.device(32, "TR-8S", "TR-8S MIDI 1", card: 4, at: "usb-2")
    private let stranger = PortDescription.device(28, "USB MIDI", "USB MIDI Port 1", card: 2)

    @Test
    func `a recognized device needs an output, at the port its profile names`() {
        let found = assignment([], [drumsSecond, drums, stranger])
        #expect(found.newcomers == [drums])
        #expect(assignment([], [drums], connectsRecognised: false).newcomers.isEmpty)
    }

    @Test
    func `of several recognized ports of a device one gets the clock`() {
        let ports = (0..<3).map { PortDescription.device(30, "Deluge", "Deluge MIDI \($0 + 1)", port: $0, card: 3) }
        #expect(assignment([], ports).newcomers == [ports[0]])
    }

    @Test
    func `a device that the user names by any port gets no other output`() {
        let found = assignment([Output("TR-8S MIDI 2", .name("tr-8s midi 2"))], [drums, drumsSecond])
        #expect(found.ports == [0: drumsSecond])
        #expect(found.newcomers.isEmpty)
    }

    @Test
    func `a name that means one recognized device means its clock port`() {
        let found = assignment([Output("TR-8S", .name("TR-8S"))], [drumsSecond, drums])
        #expect(found.ports == [0: drums])
        #expect(found.troubles.isEmpty)
    }

    @Test
    func `a name that means two devices is refused, and the message tells them apart`() {
        let found = assignment([Output("TR-8S", .name("TR-8S MIDI 1"))], [drums, twin])
        #expect(found.ports.isEmpty)
        #expect(
            found.troubles[0]?.reason
                == "several ports match TR-8S; write one of: 'card1:TR-8S MIDI 1' (24:0), 'card4:TR-8S MIDI 1' (32:0)"
        )
        #expect(assignment([Output("TR-8S", .name("card4:TR-8S MIDI 1"))], [drums, twin]).ports == [0: twin])
    }

    @Test
    func `a device that returns under another number gets its old output`() {
        var again = drums
        again.address.client = 40
        again.card?.number = 7
        let found = assignment([Output("TR-8S", .device(Device(drums)))], [again])
        #expect(found.ports == [0: again])
        #expect(found.newcomers.isEmpty)
        #expect(found.leavers.isEmpty)
    }

    @Test
    func `a device plugged in elsewhere also gets its old output`() {
        var elsewhere = drums
        elsewhere.card?.place = "usb-9"
        let found = assignment([Output("TR-8S", .device(Device(drums)))], [elsewhere])
        #expect(found.ports == [0: elsewhere])
        #expect(found.leavers.isEmpty)
    }

    @Test
    func `two equal devices are told apart by where they are plugged in`() {
        let outputs = [Output("TR-8S", .device(Device(twin))), Output("TR-8S 2", .device(Device(drums)))]
        #expect(assignment(outputs, [drums, twin]).ports == [0: twin, 1: drums])
        #expect(assignment(outputs, [twin]).ports == [0: twin])
        #expect(assignment(outputs, [drums]).ports == [1: drums])
        #expect(assignment([outputs[0]], [drums, twin]).newcomers == [drums])
    }

    @Test
    func `an automatic output keeps waiting for its absent device`() {
        let found = assignment([Output("TR-8S", .device(Device(drums)))], [stranger])
        #expect(found.leavers.isEmpty)
        #expect(found.ports.isEmpty)
    }

    @Test
    func `an automatic output is removed when the user drives its device, or wants no such outputs`() {
        let automatic = Output("TR-8S", .device(Device(drums)))
        let named = Output("Drums", .name("TR-8S MIDI 1"))
        #expect(assignment([automatic, named], [drums]).leavers == [0])
        #expect(assignment([automatic], [drums], connectsRecognised: false).leavers == [0])
        #expect(assignment([automatic], [drums]).leavers.isEmpty)
    }
}
