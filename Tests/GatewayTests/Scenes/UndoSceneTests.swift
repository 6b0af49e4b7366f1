import BeatTime
import ConfigurationFiles
import LinkNetwork
import LinkSession
import MIDIClock
import Simulation
import Testing

@testable import Arbiter
@testable import Gateway

/// Relative tempos and the undoing of commands, in virtual time.
@Suite
struct UndoSceneTests {
    /// A gateway without Link, at 120 BPM, with the outputs Clock and Drums; the profile of Drums sends 2 ms earlier.
    private func scene() throws -> GatewayScene {
        var configuration = GatewayConfiguration()
        configuration.isLinkEnabled = false
        let library = try ProfileLibrary.of(["drums": "clock: { offset: -2 }"])
        configuration.live.outputs.outputs = [
            OutputRequest(.virtual("Drums"), profile: try library.profile(id: "drums"))
        ]
        return GatewayScene(configuration)
    }

    /// The tempo of the session, in thousandths of a BPM.
    private func tempo(_ scene: GatewayScene) -> Double {
        (scene.engine.arbiter.timeline.tempo.beatsPerMinute * 1_000).rounded() / 1_000
    }

    /// Gives a command, which must be accepted, and lets its effect arrive.
    private func give(_ command: Command, _ scene: inout GatewayScene, thenWait milliseconds: Int64 = 10) {
        let token = scene.command(command)
        scene.run(for: milliseconds)
        #expect(scene.refusal(token) == nil)
        #expect(scene.replies[token] != nil)
    }

    private func refusal(of command: Command, _ scene: inout GatewayScene) -> CommandError? {
        let token = scene.command(command)
        scene.run(for: 10)
        return scene.refusal(token)
    }

    @Test
    func `five steps given at once by several clients are five steps`() throws {
        var scene = try scene()
        for _ in 0..<5 { scene.command(.stepTempo(by: 1)) }
        scene.run(for: 50)
        #expect(tempo(scene) == 125)
        scene.command(.scaleTempo(by: 0.5))
        scene.command(.stepTempo(by: 0.5))
        scene.run(for: 50)
        #expect(tempo(scene) == 63)
        #expect(scene.kept.tempo == 63)
        #expect(scene.broken.isEmpty)
    }

    @Test
    func `a step begins at the session's tempo, in the number that people would write`() throws {
        var world = GatewayWorld("steps", seed: 1)
        let (peer, ours) = (try world.addNode(tempo: 133.7), try world.addNode(tempo: 77))
        world.setLink(true, at: peer)
        world.at(2) { $0.setLink(true, at: ours) }
        try world.run(until: 5)
        world.command(.stepTempo(by: 1), at: ours)
        try world.run(until: 6)
        #expect(world.nodes[ours].kept.tempo == 134.7)
        world.command(.setTempo(Tempo(beatsPerMinute: 90)), at: peer)
        try world.run(until: 7)
        world.command(.stepTempo(by: -1), at: ours)
        try world.run(until: 8)
        #expect(world.nodes[ours].kept.tempo == 89)
        #expect(world.nodes[peer].link.sessionState.tempo.beatsPerMinute.rounded() == 89)
    }

    @Test
    func `a tempo that would leave the range stays as it is`() throws {
        var scene = try scene()
        give(.setTempo(Tempo(beatsPerMinute: 998.5)), &scene)
        for command in [Command.stepTempo(by: 1), .scaleTempo(by: 2), .stepTempo(by: -979)] {
            guard case .outOfRange(let problem, let possible) = refusal(of: command, &scene) else {
                Issue.record("\(command) is not refused")
                continue
            }
            #expect(problem.hasPrefix("the tempo stays at 998.5 BPM, because "))
            #expect(possible == "a tempo is 20 to 999 BPM")
        }
        #expect(abs(tempo(scene) - 998.5) < 0.01)
    }

    @Test
    func `each kind of change is undone, and undoing again redoes it`() throws {
        var scene = try scene()
        func expect(
            _ command: Command, _ undo: String, _ redo: String, is read: (GatewayScene) -> String
        ) {
            let before = read(scene)
            give(command, &scene)
            let after = read(scene)
            #expect(after != before)
            #expect(scene.status.undo == undo)
            give(.undo, &scene)
            #expect(read(scene) == before)
            #expect(scene.status.undo == redo)
            give(.undo, &scene)
            #expect(read(scene) == after)
            #expect(scene.status.undo == undo)
        }
        expect(
            .setTempo(Tempo(beatsPerMinute: 133.7)), "tempo back to 120 BPM", "tempo back to 133.7 BPM",
            is: { "\(tempo($0))" })
        let plays = { (scene: GatewayScene) in "\(scene.status.leadership.transport.isPlaying)" }
        expect(.setPlaying(true), "stop again", "play again", is: plays)
        expect(.togglePlaying, "play again", "stop again", is: plays)
        expect(.countIn(bars: 1), "stop again", "play again", is: plays)
        give(.setPlaying(false), &scene)
        expect(
            .setQuantum(Beats(3)), "quantum back to 4 beats", "quantum back to 3 beats",
            is: { "\($0.status.leadership.quantum.value) \($0.kept.quantum == nil)" })
        expect(
            .follow(.port("MPC")), "follow auto again", "follow MPC again",
            is: { "\($0.status.follow) \($0.kept.follow == nil)" })
        expect(.enableLink(true), "Link off again", "Link on again", is: { "\($0.status.link.isEnabled)" })
        expect(.toggleLink, "Link on again", "Link off again", is: { "\($0.status.link.isEnabled)" })
        expect(
            .enableStartStopSync(true), "start/stop sync off again", "start/stop sync on again",
            is: { "\($0.status.link.isStartStopSyncEnabled)" })
        let offset = { (scene: GatewayScene) in "\(scene.output("Drums")?.offset ?? 0) \(scene.kept.outputs.count)" }
        expect(
            .adjust(output: "Drums", OutputAdjustment(nudge: 1.5)), "offset of Drums back to -2 ms",
            "offset of Drums back to -0.5 ms", is: offset)
        expect(
            .adjust(output: "Drums", OutputAdjustment(resetsOffset: true)), "offset of Drums back to -0.5 ms",
            "offset of Drums back to -2 ms", is: offset)
        expect(
            .adjust(output: nil, OutputAdjustment(offset: 7)), "offset of Clock, Drums back",
            "offset of Clock, Drums back", is: offset)
        expect(
            .adjust(output: "Drums", OutputAdjustment(isEnabled: false)), "Drums on again", "Drums off again",
            is: { "\($0.output("Drums")?.isEnabled == true)" })
        expect(
            .adjust(output: "Drums", OutputAdjustment(multiply: 2, swing: 60)), "multiply and swing of Drums back",
            "multiply and swing of Drums back",
            is: { "\($0.output("Drums")?.settings.multiply ?? 0) \($0.output("Drums")?.settings.swing ?? 0)" })
        #expect(scene.broken.isEmpty)
    }

    @Test
    func `an offset is reset to the configured one, not to 0`() throws {
        var scene = try scene()
        give(.adjust(output: nil, OutputAdjustment(offset: 5)), &scene)
        #expect(scene.kept.outputs.count == 2)
        give(.adjust(output: nil, OutputAdjustment(resetsOffset: true)), &scene)
        #expect(scene.output("Drums")?.offset == -2_000)
        #expect(scene.output("Clock")?.offset == 0)
        #expect(scene.kept.outputs.isEmpty)
    }

    @Test
    func `changes of one setting within two seconds are undone together, others are not`() throws {
        var scene = try scene()
        for _ in 0..<4 { give(.adjust(output: "Drums", OutputAdjustment(nudge: 1)), &scene, thenWait: 1_500) }
        #expect(scene.output("Drums")?.offset == 2_000)
        give(.undo, &scene)
        #expect(scene.output("Drums")?.offset == -2_000)
        give(.stepTempo(by: 1), &scene, thenWait: 2_100)
        give(.stepTempo(by: 1), &scene)
        give(.undo, &scene)
        #expect(tempo(scene) == 121)
        give(.setTempo(Tempo(beatsPerMinute: 100)), &scene)
        give(.setQuantum(Beats(3)), &scene)
        give(.undo, &scene)
        #expect(scene.status.leadership.quantum == Beats(4))
        #expect(tempo(scene) == 100)
        // Steps are not merged with a value set before them.
        give(.setTempo(Tempo(beatsPerMinute: 110)), &scene)
        give(.stepTempo(by: 1), &scene)
        give(.stepTempo(by: 1), &scene)
        give(.undo, &scene)
        #expect(tempo(scene) == 110)
        give(.setTempo(Tempo(beatsPerMinute: 100)), &scene, thenWait: 2_100)
        give(.setQuantum(Beats(3)), &scene)
        give(.undo, &scene)
        // What is set right after an undo is not part of it.
        give(.setQuantum(Beats(5)), &scene)
        give(.undo, &scene)
        #expect(scene.status.leadership.quantum == Beats(4))
        #expect(scene.broken.isEmpty)
    }

    @Test
    func `a Stop by mistake right after Play is undone`() throws {
        var scene = try scene()
        give(.setPlaying(true), &scene, thenWait: 500)
        give(.setPlaying(false), &scene, thenWait: 500)
        #expect(scene.status.undo == "play again")
        give(.undo, &scene)
        #expect(scene.status.leadership.transport.isPlaying)
    }

    @Test
    func `there and back again within two seconds leaves nothing to undo`() throws {
        var scene = try scene()
        give(.adjust(output: nil, OutputAdjustment(nudge: 1)), &scene)
        give(.adjust(output: nil, OutputAdjustment(nudge: -1)), &scene)
        #expect(scene.status.undo == nil)
        #expect(refusal(of: .undo, &scene) == .nothingToUndo)
    }

    @Test
    func `a run of taps is undone as one, however slow`() throws {
        var scene = try scene()
        for _ in 0..<4 { give(.tap(at: nil), &scene, thenWait: 2_000) }
        #expect(tempo(scene) == 30)
        give(.undo, &scene)
        #expect(tempo(scene) == 120)
    }

    @Test
    func `a command that changes nothing leaves the last change to be undone`() throws {
        var scene = try scene()
        give(.setQuantum(Beats(3)), &scene)
        let harmless: [Command] = [
            .setTempo(Tempo(beatsPerMinute: 120)), .enableLink(false), .follow(.auto), .setPlaying(false),
            .bend(output: nil, percent: 4, for: Command.bendTime),
            .adjust(output: nil, OutputAdjustment(nudge: 0)), .adjust(output: nil, OutputAdjustment(shift: 3)),
            .adjust(output: nil, OutputAdjustment(markSeconds: 3)),
        ]
        for command in harmless { give(command, &scene, thenWait: 2_100) }
        #expect(refusal(of: .adjust(output: "nobody", OutputAdjustment(offset: 3)), &scene) != nil)
        #expect(scene.status.undo == "quantum back to 4 beats")
    }

    @Test
    func `without a change, after a reload, and while a machine leads there is nothing to undo`() throws {
        var scene = try scene()
        #expect(refusal(of: .undo, &scene) == .nothingToUndo)
        give(.setQuantum(Beats(3)), &scene)
        give(.configure(scene.engine.configuration), &scene)
        #expect(scene.status.undo == nil)
        #expect(refusal(of: .undo, &scene) == .nothingToUndo)
        var world = GatewayWorld("led", seed: 1)
        let ours = try world.addNode(tempo: 90)
        world.command(.setTempo(Tempo(beatsPerMinute: 95)), at: ours)
        world.playLeader(at: ours, tempo: 123.4, jitter: .none, seconds: 1...10, seed: 1)
        try world.run(until: 5)
        for command in [Command.undo, .stepTempo(by: 1), .scaleTempo(by: 2)] {
            let token = world.command(command, at: ours)
            guard case .notLeader = world.nodes[ours].refusal(token) else {
                Issue.record("\(command) is not refused")
                continue
            }
        }
        #expect(world.nodes[ours].status.undo == nil)
    }

    @Test
    func `a song that a peer has stopped since is not undone`() throws {
        var world = GatewayWorld("stopped since", seed: 1)
        let (peer, ours) = (try world.addNode(tempo: 120), try world.addNode(tempo: 120))
        for node in [peer, ours] {
            world.setLink(true, at: node)
            world.command(.enableStartStopSync(true), at: node)
        }
        try world.run(until: 5)
        world.command(.setPlaying(true), at: ours)
        try world.run(until: 8)
        #expect(world.nodes[ours].status.undo == "stop again")
        world.command(.setPlaying(false), at: peer)
        try world.run(until: 10)
        #expect(world.nodes[ours].status.undo == nil)
        let token = world.command(.undo, at: ours)
        #expect(world.nodes[ours].refusal(token) == .changedSince("the song was stopped by somebody else"))
    }

    @Test
    func `where a machine was to enter in a song that has ended is not undone`() throws {
        var world = GatewayWorld("entry of an ended song", seed: 1)
        let (peer, ours) = (try world.addNode(tempo: 120), try world.addNode(tempo: 120))
        for node in [peer, ours] {
            world.setLink(true, at: node)
            world.command(.enableStartStopSync(true), at: node)
        }
        try world.run(until: 5)
        world.command(.setPlaying(true), at: peer)
        try world.run(until: 10)
        world.command(.mute(output: "Drums", .off(afterBars: 4)), at: ours)
        try world.run(until: 11)
        #expect(world.nodes[ours].status.undo == "Drums playing again")
        world.command(.setPlaying(false), at: peer)
        try world.run(until: 13)
        #expect(world.nodes[ours].status.undo == nil)
        world.command(.setPlaying(true), at: peer)
        try world.run(until: 18)
        let token = world.command(.undo, at: ours)
        #expect(world.nodes[ours].refusal(token) == .nothingToUndo)
    }

    @Test
    func `a tempo that another peer has set since is not undone`() throws {
        var world = GatewayWorld("changed since", seed: 1)
        let (peer, ours) = (try world.addNode(tempo: 120), try world.addNode(tempo: 77))
        world.setLink(true, at: peer)
        world.at(2) { $0.setLink(true, at: ours) }
        try world.run(until: 5)
        world.command(.setTempo(Tempo(beatsPerMinute: 130)), at: ours)
        try world.run(until: 6)
        #expect(world.nodes[ours].status.undo == "tempo back to 120 BPM")
        world.command(.setTempo(Tempo(beatsPerMinute: 140)), at: peer)
        try world.run(until: 7)
        #expect(world.nodes[ours].status.undo == nil)
        let token = world.command(.undo, at: ours)
        #expect(
            world.nodes[ours].refusal(token)
                == .changedSince("the tempo was set to 130 BPM, and is 140 BPM now"))
        world.command(.setTempo(Tempo(beatsPerMinute: 130)), at: peer)
        try world.run(until: 8)
        world.command(.undo, at: ours)
        try world.run(until: 9)
        #expect(world.nodes[peer].link.sessionState.tempo.beatsPerMinute.rounded() == 120)
    }

    @Test
    func `an output that is gone is not undone, nor one that has come in its place`() throws {
        let scene = try scene()
        var adjusted = scene.engine
        let now = scene.now
        try adjusted.perform(.adjust(output: "Drums", OutputAdjustment(offset: 9)), nil, at: now)
        let slot = try #require(adjusted.outputs.all.firstIndex { $0.name == "Drums" })
        adjusted.outputs.remove(slot)
        #expect(adjusted.undoText(at: now) == nil)
        var refusal: CommandError?
        do throws(CommandError) {
            try adjusted.perform(.undo, nil, at: now)
        } catch {
            refusal = error
        }
        #expect(refusal == .changedSince("the output that was changed is gone"))
        adjusted.outputs.all[slot].presence = .gone
        let successor = adjusted.outputs.add(.virtual("Drums"), name: "Drums", OutputRequest(.virtual("Drums")))
        #expect(successor && adjusted.outputs.all[slot].name == "Drums")
        let before = adjusted.outputs.all[slot]
        #expect(adjusted.undoText(at: now) == nil)
        #expect(throws: CommandError.self) { try adjusted.perform(.undo, nil, at: now) }
        #expect(adjusted.outputs.all[slot].offset == before.offset)
        #expect(adjusted.outputs.all[slot].isEnabled == before.isEnabled)
    }

    @Test
    func `if one of several changed outputs is gone, the others are undone and redone`() throws {
        let scene = try scene()
        var adjusted = scene.engine
        let now = scene.now
        try adjusted.perform(.adjust(output: nil, OutputAdjustment(offset: 7)), nil, at: now)
        let drums = try #require(adjusted.outputs.all.firstIndex { $0.name == "Drums" })
        let clock = try #require(adjusted.outputs.all.firstIndex { $0.name == "Clock" })
        adjusted.outputs.remove(drums)
        #expect(adjusted.undoText(at: now) == "offset of Clock back to 0 ms")
        try adjusted.perform(.undo, nil, at: now)
        #expect(adjusted.outputs.all[clock].offset == 0)
        #expect(adjusted.outputs.all[drums].offset == 7_000)
        #expect(adjusted.undoText(at: now) == "offset of Clock back to 7 ms")
        try adjusted.perform(.undo, nil, at: now)
        #expect(adjusted.outputs.all[clock].offset == 7_000)
    }

    @Test
    func `start/stop sync is undone rightly before the Link peer has applied it`() throws {
        let scene = try scene()
        var engine = scene.engine
        let now = scene.now
        // The Link peer's state does not change in this test, because nobody carries out the effects.
        try engine.perform(.setQuantum(Beats(3)), nil, at: now)
        try engine.perform(.enableStartStopSync(true), nil, at: now)
        #expect(engine.undoText(at: now) == "start/stop sync off again")
        try engine.perform(.undo, nil, at: now)
        #expect(!engine.wantsStartStopSync)
        #expect(engine.undoText(at: now) == "start/stop sync on again")
        try engine.perform(.undo, nil, at: now)
        #expect(engine.wantsStartStopSync)
        #expect(engine.undoText(at: now) == "start/stop sync off again")
        var quick = scene.engine
        try quick.perform(.enableStartStopSync(true), nil, at: now)
        try quick.perform(.enableStartStopSync(false), nil, at: now)
        #expect(quick.undoText(at: now) == nil)
    }

    @Test
    func `several outputs are switched on again in words that the panel uses`() throws {
        var scene = try scene()
        give(.adjust(output: nil, OutputAdjustment(isEnabled: false)), &scene)
        #expect(scene.status.undo == "on/off of Clock, Drums back")
    }
}
