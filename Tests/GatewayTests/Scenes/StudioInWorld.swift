import ALSASequencer
import Arbiter
import BeatTime
import ClockDispatch
import ConfigurationFiles
import MIDIClock
import Simulation

@testable import Gateway

// Gateways with one drum machine each.
extension GatewayWorld {
    /// The ports that leaders send from; at each gateway, they are connected to its Clock In.
    static let leaderPorts: [ClockSource] = [.port(client: 20, port: 0), .port(client: 21, port: 0)]
    /// The drum machine's port.
    static let drums = PortAddress(client: 28, port: 0)

    /// Adds a gateway with a drum machine and two connected leaders; Link is disabled.
    ///
    /// - Returns: its number, which the other methods take.
    mutating func addNode(
        tempo: Double, quantum: Double = 4, profiles: [String: String] = [:], controls: [Control] = []
    ) throws -> Int {
        var configuration = GatewayConfiguration()
        configuration.tempo = Tempo(beatsPerMinute: tempo)
        configuration.isLinkEnabled = false
        configuration.live.quantum = Beats(quantum)
        configuration.live.outputs.hasClockPort = false
        configuration.live.outputs.library = try .of(profiles)
        configuration.live.outputs.outputs = [OutputRequest(.name("Drums"))]
        configuration.live.controls = controls
        let node = addGateway(configuration)
        nodes[node].sequencer.plug(.device(28, "Drums", "Drums MIDI 1", card: 1))
        plugLeaders(into: node)
        return node
    }

    /// Plugs the leaders in and connects them to Clock In.
    mutating func plugLeaders(into node: Int) {
        for (number, client) in [20, 21].enumerated() {
            let name = "Leader \(number + 1)"
            let address = PortAddress(client: client, port: 0)
            nodes[node].sequencer.plug(
                PortDescription(
                    address: address, clientName: name, portName: name, isReadable: true, isWritable: false))
        }
        connectLeaders(of: node)
    }

    /// Connects the leaders that are plugged in to Clock In.
    mutating func connectLeaders(of node: Int) {
        for client in [20, 21] {
            _ = try? nodes[node].sequencer.subscribe(
                .init(
                    from: PortAddress(client: client, port: 0),
                    to: PortAddress(client: VirtualGateway.clockIn, port: 0)))
        }
    }

    /// Unplugs the leaders, and plugs them in again half a second later.
    mutating func replugLeaders(of node: Int) {
        for client in [20, 21] { nodes[node].sequencer.unplug(PortAddress(client: client, port: 0)) }
        at(Double(now.microseconds) / 1e6 + 0.5) { $0.plugLeaders(into: node) }
    }

    mutating func setLink(_ isEnabled: Bool, at node: Int) { command(.enableLink(isEnabled), at: node) }

    mutating func setStartStopSync(_ isEnabled: Bool, at node: Int) {
        command(.enableStartStopSync(isEnabled), at: node)
    }

    /// A gateway's drum machine, with the messages it has received.
    func machine(of node: Int) -> DrumMachine { nodes[node].machines[.port(Self.drums)] ?? DrumMachine() }

    /// The planned play or stop at a gateway.
    func transport(of node: Int) -> PlannedTransport { nodes[node].engine.board.transport }

    /// The line that gives the times of a gateway's ticks.
    func line(of node: Int) -> TickLine { nodes[node].engine.arbiter.line }

    /// Checks that the drum machines of a session play, and are at the same position in the bar.
    ///
    /// - Parameters:
    ///   - members: gateways in one session, with the same quantum.
    ///   - microseconds: how far their positions may be apart.
    /// - Throws: a broken promise.
    func expectAligned(_ members: [Int], within microseconds: Int64 = 400) throws {
        let places = members.map { node in
            let transport = transport(of: node)
            let ticks = line(of: node).position(at: hostTime(of: node)) - Double(transport.startTick)
            let bar = Double(transport.ticksPerBar)
            let inBar = ticks - (ticks / bar).rounded(.down) * bar
            return (node, inBar * Double(line(of: node).microsecondsPerBeat) / 24, bar)
        }
        for (node, place, bar) in places.dropFirst() {
            let length = bar * Double(line(of: node).microsecondsPerBeat) / 24
            let apart = abs(place - places[0].1)
            guard min(apart, length - apart) <= Double(microseconds) else {
                throw broken("nodes \(places[0].0) and \(node) are \(apart) us apart in the bar")
            }
        }
        for node in members where !machine(of: node).isPlaying {
            throw broken("the machine of node \(node) does not play")
        }
    }
}
