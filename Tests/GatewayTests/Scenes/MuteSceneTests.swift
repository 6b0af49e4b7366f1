import ALSASequencer
import BeatTime
import ConfigurationFiles
import LinkSession
import MIDIClock
import Simulation
import Testing

@testable import Arbiter
@testable import Gateway

/// Machines that are muted, and enter again, while others play on; in virtual time.
@Suite
struct MuteSceneTests {
    private func machineName(_ number: Int) -> String { "Box \(number)" }

    /// A gateway with so many machines; each third one knows no Song Position.
    private func addStudio(to world: inout GatewayWorld, machines: Int, tempo: Double) throws -> Int {
        var configuration = GatewayConfiguration()
        configuration.tempo = Tempo(beatsPerMinute: tempo)
        configuration.isLinkEnabled = false
        configuration.live.outputs.hasClockPort = false
        configuration.live.outputs.library = try .of(["simple": "transport: { song-position: false }"])
        let simple = try configuration.live.outputs.library.profile(id: "simple")
        configuration.live.outputs.outputs = (0..<machines).map {
            OutputRequest(.name(machineName($0)), profile: $0 % 3 == 0 ? simple : nil)
        }
        let node = world.addGateway(configuration)
        for number in 0..<machines {
            let name = machineName(number)
            world.nodes[node].sequencer.plug(.device(30 + number, name, "\(name) MIDI 1", card: number))
        }
        return node
    }

    private func machine(_ number: Int, _ world: GatewayWorld, _ node: Int) -> DrumMachine {
        world.nodes[node].machines[.port(PortAddress(client: 30 + number, port: 0))] ?? DrumMachine()
    }

    @Test(arguments: Seeds.standing(1...10))
    func `16 machines are muted and enter at random: each is back in its place, the others undisturbed`(
        seed: UInt64
    ) throws {
        var world = GatewayWorld("mute", seed: seed)
        var random = SeededGenerator(seed: seed).split("mutes")
        let tempo = Double.random(in: 60...180, using: &random)
        let ours = try addStudio(to: &world, machines: 16, tempo: tempo)
        world.command(.setPlaying(true), at: ours)
        try world.run(until: 3)
        let bar = 240 / tempo
        var now = 3.0
        var touched: Set<Int> = []
        for _ in 0..<10 {
            let number = Int.random(in: 0..<16, using: &random)
            touched.insert(number)
            let name = machineName(number)
            world.command(.mute(output: name, .on), at: ours)
            now += Double.random(in: 0...3, using: &random) * bar
            try world.run(until: now)
            world.command(.mute(output: name, .off(afterBars: Int.random(in: 0...2, using: &random))), at: ours)
            now += Double.random(in: 0...1, using: &random)
            try world.run(until: now)
        }
        try world.run(until: now + 5 * bar)
        let first = (0..<16).first { !touched.contains($0) } ?? 0
        let place = machine(first, world, ours).songPosition
        for number in 0..<16 {
            let machine = machine(number, world, ours)
            #expect(machine.isPlaying, "\(number)")
            // One that enters without Song Position counts from its bar.
            let apart = (machine.songPosition - place) % (number % 3 == 0 ? 96 : .max)
            #expect(abs(apart) <= 1, "\(number) is \(apart) ticks off")
            #expect(machine.ticks.count == self.machine(first, world, ours).ticks.count)
            if !touched.contains(number) { #expect(machine.transport == [.start]) }
        }
    }

    @Test
    func `muted machines stay silent in the next song, and an undo lets them enter`() throws {
        var world = GatewayWorld("muted songs", seed: 1)
        let ours = try addStudio(to: &world, machines: 2, tempo: 120)
        try world.run(until: 1)
        world.command(.mute(output: "Box 1", .toggle), at: ours)
        world.command(.setPlaying(true), at: ours)
        try world.run(until: 5)
        world.command(.setPlaying(false), at: ours)
        try world.run(until: 6)
        world.command(.setPlaying(true), at: ours)
        try world.run(until: 10)
        #expect(machine(0, world, ours).transport == [.start, .stop, .start])
        #expect(machine(1, world, ours).transport.isEmpty)
        world.command(.mute(output: "Box 1", .toggle), at: ours)
        try world.run(until: 13)
        #expect(machine(1, world, ours).isPlaying)
        world.command(.undo, at: ours)
        try world.run(until: 16)
        #expect(!machine(1, world, ours).isPlaying && machine(0, world, ours).isPlaying)
        let refused = world.command(.mute(output: "nobody", .on), at: ours)
        try world.run(until: 17)
        #expect(world.nodes[ours].refusal(refused) != nil)
    }

    @Test(arguments: [40.0, 87.3, 120, 174, 300])
    func `a count-in of two bars begins the song two bars later`(tempo: Double) throws {
        var world = GatewayWorld("count-in", seed: 3)
        let ours = try addStudio(to: &world, machines: 3, tempo: tempo)
        try world.run(until: 2)
        world.command(.countIn(bars: 2), at: ours)
        try world.run(until: 2 + 3 * 240 / tempo)
        let counted = 2 * 240 / tempo
        for number in 0..<3 {
            let events = machine(number, world, ours).events
            let start = try #require(events.first { $0.message == .start })
            let asked = world.nodes[ours].clock.hostTime(at: WorldTime(microseconds: 2_000_000)).microseconds
            let waited = Double(start.at - asked) / 1e6
            #expect(waited > counted && waited < counted + 0.15 + 2.5 / tempo, "\(waited) of \(counted) s")
            let ticks = events.filter { $0.message == .timingClock && $0.at > asked && $0.at < start.at }.count
            #expect(ticks >= 192)
        }
    }

    @Test(arguments: [40.0, 120, 300])
    func `with every profile the song begins on its tick after a count-in`(tempo: Double) throws {
        let library = ProfileLibrary(builtIn: BuiltInProfile.all, folders: [])
        for (group, start) in stride(from: 0, to: library.profiles.count, by: 16).enumerated() {
            let profiles = Array(library.profiles[start..<min(start + 16, library.profiles.count)])
            var world = GatewayWorld("count-in with profiles", seed: UInt64(group))
            var configuration = GatewayConfiguration()
            configuration.tempo = Tempo(beatsPerMinute: tempo)
            configuration.isLinkEnabled = false
            configuration.live.outputs.hasClockPort = false
            configuration.live.outputs.library = library
            configuration.live.outputs.outputs = profiles.enumerated().map {
                OutputRequest(.name(machineName($0)), profile: $1)
            }
            let ours = world.addGateway(configuration)
            for number in profiles.indices {
                let name = machineName(number)
                world.nodes[ours].sequencer.plug(.device(30 + number, name, "\(name) MIDI 1", card: number))
            }
            try world.run(until: 2)
            world.command(.countIn(bars: 1), at: ours)
            try world.run(until: 4 + 3 * 240 / tempo)
            let leadership = world.nodes[ours].status.leadership
            let begin = leadership.line.time(ofTick: leadership.transport.startTick).microseconds
            for (number, profile) in profiles.enumerated() where profile.settings.takesTransport {
                guard profile.timeCode == nil, profile.pulseSettings == nil, profile.settings.start != .none else {
                    continue
                }
                let events = machine(number, world, ours).events
                let started = try #require(events.firstIndex { [.start, .continue].contains($0.message) })
                let first = try #require(events[started...].first { $0.message == .timingClock })
                let apart = first.at - begin - profile.settings.offset
                #expect(abs(apart) < 1_000, "\(profile.id) begins \(apart) us off")
            }
        }
    }

    @Test(arguments: Seeds.standing(1...10))
    func `an entry some bars into the song survives a change of tempo in the count-in`(seed: UInt64) throws {
        var world = GatewayWorld("count-in with an entry", seed: seed)
        let ours = try addStudio(to: &world, machines: 2, tempo: 120)
        try world.run(until: 2)
        world.command(.mute(output: "Box 1", .on), at: ours)
        world.command(.countIn(bars: 2), at: ours)
        try world.run(until: 3)
        world.command(.mute(output: "Box 1", .off(afterBars: 4)), at: ours)
        world.command(.setTempo(Tempo(beatsPerMinute: 100)), at: ours)
        try world.run(until: 22)
        #expect(machine(0, world, ours).transport == [.start])
        #expect(machine(1, world, ours).transport == [.songPosition(64), .continue])
    }

    @Test(arguments: [true, false])
    func `an entry some bars into the next song is seen beforehand, undone and redone`(isMuted: Bool) throws {
        var world = GatewayWorld("entry redone", seed: 1)
        let ours = try addStudio(to: &world, machines: 2, tempo: 120)
        try world.run(until: 1)
        if isMuted { world.command(.mute(output: "Box 1", .on), at: ours) }
        // What follows within two seconds would be one change with it.
        try world.run(until: 4)
        world.command(.mute(output: "Box 1", .off(afterBars: 4)), at: ours)
        try world.run(until: 5)
        func entry(_ world: GatewayWorld) -> Double? {
            let status = world.nodes[ours].status
            return world.nodes[ours].output("Box 1")?.muted.change(in: status.leadership.transport, at: 1e6)
        }
        let before = isMuted ? "Box 1 muted again" : "Box 1 playing again"
        #expect(world.nodes[ours].status.undo == before && entry(world) == 16)
        world.command(.undo, at: ours)
        try world.run(until: 6)
        #expect(world.nodes[ours].status.undo == "Box 1 enters after 4 bars of the song again" && entry(world) == nil)
        world.command(.undo, at: ours)
        try world.run(until: 7)
        #expect(world.nodes[ours].status.undo == before && entry(world) == 16)
        world.command(.setPlaying(true), at: ours)
        try world.run(until: 20)
        #expect(machine(0, world, ours).transport == [.start])
        #expect(machine(1, world, ours).transport == [.songPosition(64), .continue])
    }

    @Test
    func `an entry some bars later in a song is undone and redone as if nothing had happened`() throws {
        var world = GatewayWorld("entry redone in a song", seed: 1)
        let ours = try addStudio(to: &world, machines: 3, tempo: 120)
        world.command(.setPlaying(true), at: ours)
        try world.run(until: 3)
        let start = try #require(machine(1, world, ours).events.first { $0.message == .start })
        let begin = world.nodes[ours].clock.worldTime(of: HostTime(microseconds: start.at))
        let asked = Double(begin.microseconds) / 1e6 + 4.5
        try world.run(until: asked)
        for name in ["Box 1", "Box 2"] { world.command(.mute(output: name, .off(afterBars: 2)), at: ours) }
        try world.run(until: asked + 0.1)
        #expect(world.nodes[ours].status.undo == "Box 2 playing again")
        world.command(.undo, at: ours)
        try world.run(until: asked + 0.2)
        #expect(world.nodes[ours].status.undo == "Box 2 enters after 5 bars of the song again")
        world.command(.undo, at: ours)
        try world.run(until: asked + 12)
        let transport: [ClockMessage] = [.start, .stop, .songPosition(80), .continue]
        #expect(machine(1, world, ours).transport == transport && machine(2, world, ours).transport == transport)
        // It has entered since, so it plays.
        world.command(.mute(output: "Box 2", .on), at: ours)
        try world.run(until: asked + 12.1)
        #expect(world.nodes[ours].status.undo == "Box 2 playing again")
    }

    @Test(arguments: 0..<20)
    func `a mute that comes again, or is taken back, just before its bar, stops the machine once at most`(
        step: Int
    ) throws {
        var world = GatewayWorld("mutes near a bar", seed: 7)
        let ours = try addStudio(to: &world, machines: 2, tempo: 120)
        world.command(.setPlaying(true), at: ours)
        try world.run(until: 3)
        let start = try #require(machine(1, world, ours).events.first { $0.message == .start })
        world.command(.mute(output: "Box 1", .on), at: ours)
        let bar = Double(
            world.nodes[ours].clock.worldTime(of: HostTime(microseconds: start.at + 4_000_000)).microseconds)
        try world.run(until: bar / 1e6 - Double(step) * 0.005)
        world.command(.mute(output: "Box 1", step % 2 == 0 ? .on : .off(afterBars: 0)), at: ours)
        try world.run(until: 12)
        let transport = machine(1, world, ours).transport
        #expect(transport.count { $0 == .stop } <= 1, "\(transport)")
        #expect(machine(1, world, ours).isPlaying == (step % 2 == 1))
        let apart = machine(0, world, ours).songPosition - machine(1, world, ours).songPosition
        #expect(step % 2 == 0 || abs(apart) <= 1)
    }
}
