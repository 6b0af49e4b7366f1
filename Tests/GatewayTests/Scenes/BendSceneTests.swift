import ALSASequencer
import BeatTime
import ConfigurationFiles
import LinkSession
import MIDIClock
import Simulation
import Testing

@testable import Arbiter
@testable import Gateway

/// Machines that are held off the tempo, and groups of machines; in virtual time.
@Suite
struct BendSceneTests {
    private let pedal = PortDescription.device(60, "Pedal", "Pedal MIDI 1", card: 9)

    /// A gateway with three machines, of which the first two are drums, in a session with a peer.
    private func studio(isLinkEnabled: Bool = true) throws -> (GatewayWorld, ours: Int, peer: Int) {
        var world = GatewayWorld("bend", seed: 1)
        var configuration = GatewayConfiguration()
        configuration.tempo = Tempo(beatsPerMinute: 120)
        configuration.isLinkEnabled = isLinkEnabled
        configuration.live.outputs.hasClockPort = false
        configuration.live.outputs.outputs = (0..<3).map {
            OutputRequest(.name("Box \($0)"), groups: $0 < 2 ? ["Drums"] : [])
        }
        let port = Placed("Pedal", at: Place(file: "", line: 1, column: 1))
        configuration.live.controls = [
            Control(port: port, message: .init(.note, 1), verb: .bendFaster, output: "Box 0"),
            Control(port: port, message: .init(.controller, 2), verb: .bendSlower, output: "Drums"),
        ]
        let ours = world.addGateway(configuration)
        for number in 0..<3 {
            let name = "Box \(number)"
            world.nodes[ours].sequencer.plug(.device(30 + number, name, "\(name) MIDI 1", card: number))
        }
        world.nodes[ours].sequencer.plug(pedal)
        let peer = try world.addNode(tempo: 120)
        world.setLink(true, at: peer)
        world.command(.setPlaying(true), at: ours)
        try world.run(until: 4)
        return (world, ours, peer)
    }

    private func machine(_ number: Int, _ world: GatewayWorld, _ node: Int) -> DrumMachine {
        world.nodes[node].machines[.port(PortAddress(client: 30 + number, port: 0))] ?? DrumMachine()
    }

    private func pass(_ seconds: Double, _ world: inout GatewayWorld) throws {
        try world.run(until: Double(world.now.microseconds) / 1e6 + seconds)
    }

    /// By how many microseconds a machine's last tick came after that of the last machine with the same number.
    private func apart(_ number: Int, _ world: GatewayWorld, _ node: Int) throws -> Int64 {
        let (ours, others) = (machine(number, world, node).events, machine(2, world, node).events)
        let (ticks, wanted) = (ours.filter { $0.message == .timingClock }, others.filter { $0.message == .timingClock })
        let count = min(ticks.count, wanted.count)
        #expect(abs(ticks.count - wanted.count) < 40)
        return ticks[count - 1].at - wanted[count - 1].at
    }

    private func press(_ world: inout GatewayWorld, _ kind: ChannelMessage.Kind, _ number: Int, _ value: Int) {
        // The gateway is the world's first node.
        let message = ChannelMessage(kind, number, channel: 1, value: value)
        world.press([ControlArrival(message, at: world.hostTime(of: 0), from: pedal.address)], at: 0)
    }

    private func bend(_ world: GatewayWorld, _ node: Int, _ number: Int) -> Bending {
        world.nodes[node].status.outputs[number].bending
    }

    @Test
    func `a bend moves one machine only, ends a second after the last sign, and leaves the session alone`() throws {
        var (world, ours, peer) = try studio()
        for _ in 0..<5 {
            world.command(.bend(output: "Box 0", percent: 8, for: Command.bendTime), at: ours)
            try pass(0.3, &world)
        }
        #expect(try apart(0, world, ours) < -80_000)
        #expect(abs(try apart(1, world, ours)) < 1_000)
        #expect(bend(world, ours, 0).rate == 80_000)
        try pass(0.8, &world)
        #expect(bend(world, ours, 0).rate == 0, "a second after the last sign it is let go")
        try pass(4, &world)
        #expect(abs(try apart(0, world, ours)) < 1_000)
        #expect(machine(0, world, ours).songPosition == machine(2, world, ours).songPosition)
        #expect(machine(0, world, ours).transport == machine(2, world, ours).transport)
        #expect(world.nodes[peer].link.sessionState.tempo.beatsPerMinute.rounded() == 120)
        #expect(world.nodes[ours].status.undo == "stop again", "a bend leaves nothing to undo")
    }

    @Test
    func `a group is bent, muted and realigned as one, and the others are undisturbed`() throws {
        var (world, ours, _) = try studio(isLinkEnabled: false)
        world.command(.bend(output: "drums", percent: -4, for: Command.bendTime), at: ours)
        try pass(0.9, &world)
        #expect(try apart(0, world, ours) > 25_000)
        #expect(try apart(1, world, ours) > 25_000)
        world.command(.bend(output: "drums", percent: 0, for: Command.bendTime), at: ours)
        try pass(2, &world)
        #expect(abs(try apart(0, world, ours)) < 1_000)
        #expect(abs(try apart(1, world, ours)) < 1_000)
        world.command(.mute(output: " DRUMS ", .toggle), at: ours)
        try pass(3, &world)
        #expect((0..<3).map { machine($0, world, ours).isPlaying } == [false, false, true])
        world.command(.undo, at: ours)
        try pass(3, &world)
        #expect((0..<3).map { machine($0, world, ours).isPlaying } == [true, true, true])
        world.command(.realign(output: "drums", .atBar), at: ours)
        try pass(3, &world)
        #expect(machine(1, world, ours).transport.count { $0 == .stop } == 2)
        #expect(machine(2, world, ours).transport == [.start])
        let unknown = world.command(.bend(output: "basses", percent: 4, for: 1), at: ours)
        #expect(world.nodes[ours].refusal(unknown)?.description.hasPrefix("no output is called basses") == true)
    }

    @Test
    func `a muted machine that is bent is stopped between the last tick of its bar and the next`() throws {
        var (world, ours, _) = try studio(isLinkEnabled: false)
        for _ in 0..<20 {
            world.command(.bend(output: "Box 0", percent: 8, for: Command.bendTime), at: ours)
            try pass(0.2, &world)
        }
        world.command(.mute(output: "Box 0", .on), at: ours)
        for _ in 0..<15 {
            world.command(.bend(output: "Box 0", percent: 8, for: Command.bendTime), at: ours)
            try pass(0.2, &world)
        }
        #expect(!machine(0, world, ours).isPlaying)
        #expect(machine(0, world, ours).songPosition % 96 == 0)
    }

    @Test
    func `a machine that is pulled while it is bent is back in its place`() throws {
        var (world, ours, _) = try studio(isLinkEnabled: false)
        world.command(.bend(output: "Box 0", percent: 8, for: 3_000_000), at: ours)
        try pass(2, &world)
        #expect(bend(world, ours, 0).shift(at: world.hostTime(of: ours)) < -100_000)
        world.nodes[ours].sequencer.unplug(client: 30)
        try pass(0.5, &world)
        world.nodes[ours].sequencer.plug(.device(30, "Box 0", "Box 0 MIDI 1", card: 0))
        try pass(4, &world)
        #expect(bend(world, ours, 0).shift(at: world.hostTime(of: ours)) == 0)
        #expect(machine(0, world, ours).isPlaying)
        let last = [0, 2].map { machine($0, world, ours).events.last { $0.message == .timingClock }?.at ?? 0 }
        #expect(abs(last[0] - last[1]) < 1_000)
        #expect(machine(0, world, ours).songPosition == machine(2, world, ours).songPosition)
    }

    @Test
    func `a machine that is bent follows a change of tempo without a jump`() throws {
        var (world, ours, _) = try studio(isLinkEnabled: false)
        world.command(.bend(output: "Box 0", percent: 8, for: 20_000_000), at: ours)
        try pass(4, &world)
        world.command(.setTempo(Tempo(beatsPerMinute: 126)), at: ours)
        try pass(2, &world)
        let ticks = machine(0, world, ours).events.filter { $0.message == .timingClock }.suffix(100).map(\.at)
        let gaps = zip(ticks.dropFirst(), ticks).map(-)
        #expect(gaps.allSatisfy { (16_000...21_500).contains($0) }, "\(gaps)")
    }

    @Test
    func `two pedals and a command for one machine do not end each other's bends`() throws {
        var (world, ours, _) = try studio(isLinkEnabled: false)
        press(&world, .note, 1, 100)
        press(&world, .controller, 2, 127)
        #expect(bend(world, ours, 0).rate == -40_000 && bend(world, ours, 1).rate == -40_000)
        press(&world, .controller, 2, 0)
        #expect(bend(world, ours, 0).rate == 40_000 && bend(world, ours, 1).rate == 0)
        world.command(.bend(output: "Box 0", percent: 8, for: Command.bendTime), at: ours)
        press(&world, .note, 1, 0)
        try pass(0.5, &world)
        #expect(bend(world, ours, 0).rate == 80_000)
        press(&world, .note, 1, 100)
        try pass(1, &world)
        world.command(.bend(output: nil, percent: 0, for: Command.bendTime), at: ours)
        #expect(bend(world, ours, 0).rate == 40_000, "it is still held by the pedal")
        press(&world, .note, 1, 0)
        #expect(bend(world, ours, 0).rate == 0)
    }

    @Test
    func `a pedal bends while it is down, and one that is pulled meanwhile lets go`() throws {
        var (world, ours, _) = try studio(isLinkEnabled: false)
        press(&world, .note, 1, 100)
        try pass(2, &world)
        #expect(bend(world, ours, 0).rate == 40_000 && bend(world, ours, 1).rate == 0)
        press(&world, .note, 1, 0)
        #expect(bend(world, ours, 0).rate == 0)
        // A short press, whose release comes as soon as contact bounce does.
        press(&world, .note, 1, 100)
        try pass(0.02, &world)
        press(&world, .note, 1, 0)
        #expect(bend(world, ours, 0).rate == 0)
        press(&world, .controller, 2, 127)
        #expect(bend(world, ours, 0).rate == -40_000 && bend(world, ours, 1).rate == -40_000)
        world.nodes[ours].sequencer.unplug(client: pedal.address.client)
        try pass(0.1, &world)
        #expect(bend(world, ours, 0).rate == 0 && bend(world, ours, 1).rate == 0)
        try pass(4, &world)
        #expect(abs(try apart(0, world, ours)) < 1_000)
        #expect(world.nodes[ours].broken.isEmpty)
    }
}
