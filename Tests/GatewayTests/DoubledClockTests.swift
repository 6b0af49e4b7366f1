import ALSASequencer
import ConfigurationFiles
import GatewayStatus
import Testing

@testable import Gateway

@Suite
struct DoubledClockTests {
    private let device = PortDescription.device(24, "TR-8S", "TR-8S MIDI 1", card: 1)
    private let second = PortDescription.device(24, "TR-8S", "TR-8S MIDI 2", port: 1, card: 1)

    /// As PipeWire's bridge has it: only its own program can subscribe it.
    private let bridge = PortDescription(
        address: PortAddress(client: 143, port: 0), clientName: "PipeWire-RT-Event", portName: "input",
        isReadable: false, isWritable: false)

    /// The output of another run.
    private let other = PortDescription(
        address: PortAddress(client: 140, port: 2), clientName: "Tactus", portName: "TR-8S", isReadable: true,
        isWritable: false)
    private let thru = PortDescription.device(14, "Midi Through", "Midi Through Port-0")

    private func output(_ name: String, _ slot: Int, _ destination: Destination) -> Output {
        Output(
            name: name, destination: destination, request: OutputRequest(.name(name)),
            source: PortAddress(client: 128, port: slot), takenIDs: [])
    }

    private func doubled(
        _ subscribers: [Int: [PortAddress]], library: ProfileLibrary = ProfileLibrary(),
        besides foreign: [SubscriptionGraph.Subscription] = []
    ) -> [DoubledClock] {
        let outputs = [output("Clock", 0, .virtual("Clock")), output("TR-8S", 1, .name("TR-8S"))]
        let list = PortList(
            ports: [device, second, bridge, other, thru], graph: SubscriptionGraph(subscriptions: Set(foreign)))
        let machines = MachinePorts(list.ports, library: library)
        return DoubledClock.all(
            outputs, subscribers: subscribers, among: list.ports, machines: machines,
            others: OtherRuns(list, except: [128], machines: machines))
    }

    @Test
    func `a port that hears two outputs is reported, with the subscription to remove`() throws {
        let found = try #require(doubled([0: [device.address], 1: [device.address]]).first)
        #expect(
            Notice.doubledClock(found).message
                == "TR-8S MIDI 1 hears the clock twice, from TR-8S and Clock, and runs too fast")
        #expect(Notice.doubledClock(found).fix == "'aconnect -d 128:0 24:0'")
    }

    @Test
    func `one output for one port is fine`() {
        #expect(doubled([0: [], 1: [device.address]]).isEmpty)
    }

    @Test
    func `a bridge may hear every output, beside their machines`() {
        #expect(doubled([0: [bridge.address], 1: [device.address, bridge.address]]).isEmpty)
        #expect(doubled([0: [device.address, bridge.address], 1: [device.address, bridge.address]]).count == 1)
    }

    @Test
    func `two ports of one machine are one too many, two of an interface are not`() throws {
        let library = try ProfileLibrary.of(["drums": "match: [TR-8S]"])
        let both = [0: [second.address], 1: [device.address]]
        let first = try ProfileLibrary.of(["drums": "match: [TR-8S MIDI 1]"])
        #expect(doubled(both, library: first).count == 1)
        #expect(doubled(both, library: library).count == 1)
        #expect(doubled(both).isEmpty)
    }

    @Test
    func `a port that another run of the program sends to is reported, with that run's client`() throws {
        let hearers = [1: [device.address]]
        let found = try #require(doubled(hearers, besides: [.init(from: other.address, to: device.address)]).first)
        #expect(
            Notice.doubledClock(found).message
                == "TR-8S MIDI 1 hears the clock twice, from TR-8S and another run of Tactus (client 140), "
                + "and runs too fast")
        #expect(Notice.doubledClock(found).fix == "leave the machine out of one of the two, or end one")
    }

    @Test
    func `what else sends to a machine is no clock, nor what another run sends to others`() {
        let hearers = [1: [device.address]]
        #expect(doubled(hearers, besides: [.init(from: thru.address, to: device.address)]).isEmpty)
        #expect(doubled([:], besides: [.init(from: other.address, to: device.address)]).isEmpty)
        let own = PortAddress(client: 128, port: 1)
        #expect(doubled(hearers, besides: [.init(from: own, to: device.address)]).isEmpty)
    }

    @Test
    func `another run's clock at another port of one machine is one too many, at one of an interface it is not`() throws
    {
        let library = try ProfileLibrary.of(["drums": "match: [TR-8S]"])
        let (hearers, foreign) =
            ([1: [device.address]], [.init(from: other.address, to: second.address)])
            as ([Int: [PortAddress]], [SubscriptionGraph.Subscription])
        #expect(doubled(hearers, library: library, besides: foreign).count == 1)
        #expect(doubled(hearers, besides: foreign).isEmpty)
    }
}
