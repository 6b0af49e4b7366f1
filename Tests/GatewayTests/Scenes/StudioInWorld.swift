import ALSASequencer
import Arbiter
import BeatTime
import ClockDispatch
import ConfigurationFiles
import MIDIClock
import Simulation

@testable import Gateway

// Gateways that drive a drum machine each, and that people play with.
extension GatewayWorld {
    /// The ports that leaders send from; the user of each gateway has connected them to its Clock In.
    static let leaderPorts: [ClockSource] = [.port(client: 20, port: 0), .port(client: 21, port: 0)]
    /// The drum machine's port.
    static let drums = PortAddress(client: 28, port: 0)

    /// Adds a gateway with a drum machine and two cables for leaders; Link is off, and its clock runs.
    mutating func addNode(tempo: Double, quantum: Double = 4, profiles: [String: String] = [:]) throws -> Int {
        var configuration = GatewayConfiguration()
        configuration.tempo = Tempo(beatsPerMinute: tempo)
        configuration.isLinkEnabled = false
        configuration.live.quantum = Beats(quantum)
        configuration.live.outputs.hasClockPort = false
        configuration.live.outputs.library = try .of(profiles)
        configuration.live.outputs.outputs = [OutputRequest(.name("Drums"))]
        let node = addGateway(configuration)
        nodes[node].sequencer.plug(.device(28, "Drums", "Drums MIDI 1", card: 1))
        plugLeaders(into: node)
        return node
    }

    /// Plugs the leaders in; the user has connected them.
    mutating func plugLeaders(into node: Int) {
        for (number, client) in [20, 21].enumerated() {
            let name = "Leader \(number + 1)"
            let address = PortAddress(client: client, port: 0)
            nodes[node].sequencer.plug(
                PortDescription(
                    address: address, clientName: name, portName: name, isReadable: true, isWritable: false))
            _ = try? nodes[node].sequencer.subscribe(
                .init(from: address, to: PortAddress(client: VirtualGateway.clockIn, port: 0)))
        }
    }

    /// Has the leaders' cables pulled, and plugged in again half a second later.
    mutating func replugLeaders(of node: Int) {
        for client in [20, 21] { nodes[node].sequencer.unplug(PortAddress(client: client, port: 0)) }
        at(Double(now.microseconds) / 1e6 + 0.5) { $0.plugLeaders(into: node) }
    }

    mutating func setLink(_ isEnabled: Bool, at node: Int) { command(.enableLink(isEnabled), at: node) }

    mutating func setStartStopSync(_ isEnabled: Bool, at node: Int) {
        command(.enableStartStopSync(isEnabled), at: node)
    }

    /// What a gateway's drum machine has heard.
    func machine(of node: Int) -> DrumMachine { nodes[node].machines[.port(Self.drums)] ?? DrumMachine() }

    /// What the song does at a gateway.
    func transport(of node: Int) -> PlannedTransport { nodes[node].engine.board.transport }

    /// Where a gateway's ticks fall.
    func line(of node: Int) -> TickLine { nodes[node].engine.arbiter.line }

    /// Checks that the drum machines of a session stand on the same tick of the bar.
    ///
    /// - Parameters:
    ///   - members: gateways that play in one session with the same quantum.
    ///   - microseconds: how far their ticks may lie apart.
    /// - Throws: the promise they break.
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
