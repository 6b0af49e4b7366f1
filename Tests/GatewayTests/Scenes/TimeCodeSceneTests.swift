import ALSASequencer
import BeatTime
import ConfigurationFiles
import LinkSession
import MIDIClock
import Simulation
import Testing
import TimeCode

@testable import Arbiter
@testable import ClockDispatch
@testable import Gateway

/// What a lighting desk hears of time code, beside a drum machine; in virtual time.
@Suite
struct TimeCodeSceneTests {
    /// A gateway with a drum machine, and a desk that gets 25 frames a second from 01:00:00:00 on.
    private func addGateway(to world: inout GatewayWorld, tempo: Double = 120) throws -> Int {
        var configuration = GatewayConfiguration()
        configuration.tempo = Tempo(beatsPerMinute: tempo)
        configuration.live.outputs.library = try .of([
            "drums": "match: [TR-8S]", "lights": "time-code: { rate: 25, start: 01:00:00:00 }",
        ])
        let profile = try configuration.live.outputs.library.profile(id: "lights")
        configuration.live.outputs.outputs = [OutputRequest(.name("Desk"), profile: profile)]
        let node = world.addGateway(configuration)
        world.nodes[node].sequencer.plug(.device(24, "TR-8S", "TR-8S MIDI 1", card: 1))
        world.nodes[node].sequencer.plug(.device(28, "Desk", "Desk MIDI 1", card: 2))
        return node
    }

    /// The pieces with number 0, with their times in the world and in the code, in seconds.
    private func times(_ world: GatewayWorld, _ node: Int) -> [(world: Double, code: Double)] {
        world.nodes[node].timeCode.compactMap { message, time in
            guard case .quarterFrame(0, let code) = message else { return nil }
            return (seconds(time, world, node), Double(code.frame) / 25 - 3_600)
        }
    }

    private func seconds(_ time: HostTime, _ world: GatewayWorld, _ node: Int) -> Double {
        Double(world.nodes[node].clock.worldTime(of: time).microseconds) / 1e6
    }

    /// When a drum machine has begun to play, in seconds.
    private func firstStep(_ world: GatewayWorld, _ node: Int) throws -> Double {
        let machines = world.nodes[node].machines.values.map(\.events)
        let events = try #require(machines.first { $0.contains { $0.message == .start } })
        let step = try #require(events.drop { $0.message != .start }.first { $0.message == .timingClock })
        return seconds(HostTime(microseconds: step.at), world, node)
    }

    private func fullFrames(_ world: GatewayWorld, _ node: Int) -> [String] {
        world.nodes[node].timeCode.compactMap { if case .fullFrame(let code) = $0.message { "\(code)" } else { nil } }
    }

    @Test(arguments: Seeds.standing(1...5))
    func `it counts real seconds from the first step of the song, whatever the tempo`(seed: UInt64) throws {
        var world = GatewayWorld("time code", seed: seed)
        let ours = try addGateway(to: &world, tempo: 97.3)
        world.at(2) { $0.command(.setPlaying(true), at: ours) }
        for (time, tempo) in [(5.0, 180.0), (9, 61.7), (12.3, 140)] {
            world.at(time) { $0.command(.setTempo(Tempo(beatsPerMinute: tempo)), at: ours) }
        }
        world.at(20) { $0.command(.setPlaying(false), at: ours) }
        try world.run(until: 22)
        let began = try firstStep(world, ours)
        let times = times(world, ours)
        #expect((220...225).contains(times.count))
        for (at, code) in times { #expect(abs(at - began - code) < 0.003, "\(code) s at \(at - began) s") }
        let full = fullFrames(world, ours)
        #expect(full.count == 2 && full.first == "01:00:00:00")
        #expect(full.last?.hasPrefix("01:00:17:2") == true || full.last?.hasPrefix("01:00:18:0") == true, "\(full)")
    }

    @Test(arguments: Seeds.standing(1...5))
    func `a song that goes on in another session goes on counting`(seed: UInt64) throws {
        var world = GatewayWorld("time code, joining", seed: seed)
        let peer = try world.addNode(tempo: 60)
        let ours = try addGateway(to: &world)
        world.setLink(false, at: ours)
        world.setLink(true, at: peer)
        world.at(2) { $0.command(.setPlaying(true), at: ours) }
        world.at(20.3) { $0.setLink(true, at: ours) }
        try world.run(until: 30)
        let last = try #require(times(world, ours).last)
        #expect(last.world > 29.9)
        let began = try firstStep(world, ours)
        #expect(abs(last.world - began - last.code) < 0.005, "\(last), \(began)")
        #expect(fullFrames(world, ours).count == 1)
    }

    @Test(arguments: Seeds.standing(1...5))
    func `beside a leader it counts from the leader's first step, and stops with it`(seed: UInt64) throws {
        var world = GatewayWorld("time code of a leader's song", seed: seed)
        let ours = try addGateway(to: &world)
        world.setLink(false, at: ours)
        world.plugLeaders(into: ours)
        world.playLeader(at: ours, tempo: 123.4, jitter: .gaussian(300), seconds: 1...20, seed: seed) { tick in
            tick == 240 ? [.start] : tick == 720 ? [.stop] : []
        }
        try world.run(until: 19)
        let began = Double(world.leaderTime(ofTick: 240, at: ours)) / 1e6
        let ends = Double(world.leaderTime(ofTick: 720, at: ours)) / 1e6
        let times = times(world, ours)
        #expect(abs(Double(times.count) - (ends - began) * 12.5) <= 2)
        // The leader's own ticks shake by 0.3 ms.
        for (at, code) in times {
            let truth = Double(
                world.nodes[ours].clock.hostTime(at: WorldTime(microseconds: Int64(at * 1e6))).microseconds)
            #expect(abs(truth / 1e6 - began - code) < 0.003, "\(code) s at \(truth / 1e6 - began) s")
        }
        #expect(fullFrames(world, ours).count == 2)
    }

    @Test
    func `what only a clock has is refused, an offset is not`() throws {
        var world = GatewayWorld("settings of time code", seed: 1)
        let ours = try addGateway(to: &world)
        try world.run(until: 3)
        let changes = [OutputAdjustment(multiply: 2), .init(swing: 60), .init(range: 60...120), .init(markSeconds: 5)]
        for (index, change) in changes.enumerated() {
            let token = world.command(.adjust(output: "Desk time code", change), at: ours)
            try world.run(until: Double(4 + index))
            let refusal = try #require(world.nodes[ours].refusal(token))
            #expect("\(refusal)".hasPrefix("Desk time code sends time code"), "\(refusal)")
        }
        let moved = world.command(.adjust(output: "Desk time code", OutputAdjustment(offset: -20)), at: ours)
        try world.run(until: 9)
        #expect(world.nodes[ours].refusal(moved) == nil)
        #expect(world.nodes[ours].output("Desk time code")?.offset == -20_000)
    }

    @Test
    func `time code beside a machine's clock comes and goes without disturbing the machine`() throws {
        var world = GatewayWorld("time code beside a clock", seed: 1)
        let ours = try addGateway(to: &world)
        var live = world.nodes[ours].engine.configuration
        let lights = try #require(live.outputs.outputs.first)
        live.outputs.outputs = [OutputRequest(.name("TR-8S"))]
        let alone = live
        live.outputs.outputs.append(OutputRequest(.name("TR-8S"), profile: lights.profile))
        let both = live
        world.at(1) { $0.command(.configure(alone), at: ours) }
        world.at(2) { $0.command(.setPlaying(true), at: ours) }
        world.at(6) { $0.command(.configure(both), at: ours) }
        world.at(12) { $0.command(.configure(alone), at: ours) }
        try world.run(until: 16)
        let moves = world.nodes[ours].machines.values.map(\.transport)
        #expect(moves.contains([.start]), "\(moves)")
        #expect(world.nodes[ours].breaks == 0)
        #expect(times(world, ours).contains { (9.9...10.1).contains($0.world) })
        #expect(!times(world, ours).contains { $0.world > 12.2 })
    }
}
