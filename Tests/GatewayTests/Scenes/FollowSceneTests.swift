import ALSASequencer
import BeatTime
import GatewayStatus
import LinkSession
import MIDIClock
import Simulation
import Testing

@testable import Arbiter
@testable import Gateway

/// What drum machines hear while their gateway follows a MIDI clock leader, loses it, or switches to Link.
///
/// All in virtual time.
@Suite
struct FollowSceneTests {
    @Test(arguments: Seeds.standing(1...10))
    func `a leader is followed once it is steady, and its Start reaches the machine`(seed: UInt64) throws {
        var world = GatewayWorld("follow", seed: seed)
        let ours = try world.addNode(tempo: 90)
        world.playLeader(at: ours, tempo: 123.4, jitter: .gaussian(300), seconds: 1...20, seed: seed) { tick in
            tick == 240 ? [.start] : tick == 600 ? [.stop] : []
        }
        try world.run(until: 2.5)
        #expect(world.nodes[ours].engine.arbiter.mode == .follow)
        #expect(abs(world.tempo(of: ours) - 123.4) < 0.5)
        try world.run(until: 19)
        #expect(world.machine(of: ours).moves == [.start, .stop])
        // The song's first tick must be the leader's tick 240, whatever number it has here.
        let machine = world.machine(of: ours)
        let first = try #require(machine.startedAt)
        let truth = world.leaderTime(ofTick: 240, at: ours)
        #expect(abs(first - truth) < 1_000, "it starts \(first - truth) us after the leader's beat")
    }

    @Test(arguments: Seeds.standing(1...5))
    func `a song does not wait for a machine that is not there`(seed: UInt64) throws {
        var world = GatewayWorld("absent", seed: seed)
        let sampler = ["sampler": "match: [Sampler]\nclock: { offset: -40 }"]
        let ours = try world.addNode(tempo: 90, profiles: sampler)
        world.nodes[ours].sequencer.plug(.device(50, "Sampler", "Sampler MIDI 1", card: 3))
        try world.run(until: 1)
        world.nodes[ours].sequencer.unplug(PortAddress(client: 50, port: 0))
        world.playLeader(at: ours, tempo: 120, jitter: .none, seconds: 2...8, seed: seed)
        // Right before its tick, as on a DIN line.
        world.at(5.999_7) { $0.hear(.start, from: GatewayWorld.leaderPorts[0], at: ours) }
        try world.run(until: 8)
        #expect(world.nodes[ours].engine.outputs.all.contains { $0.lacksDevice && $0.offset == -40_000 })
        let first = try #require(world.machine(of: ours).startedAt)
        let truth = world.leaderTime(ofTick: 192, at: ours)
        #expect(abs(first - truth) < 15_000, "it starts \(first - truth) us after the leader's beat")
    }

    @Test(arguments: Seeds.standing(1...10))
    func `TEMPO-5, BEATTIME-1: enabling Link without peers keeps the leader's tempo and ticks`(seed: UInt64) throws {
        var world = GatewayWorld("follow to link", seed: seed)
        let ours = try world.addNode(tempo: 90)
        world.playLeader(at: ours, tempo: 123.4, jitter: .gaussian(100), seconds: 1...30, seed: seed) {
            $0 == 96 ? [.start] : []
        }
        try world.run(until: 8)
        let breaks = world.nodes[ours].breaks
        world.setLink(true, at: ours)
        try world.run(until: 12)
        #expect(world.nodes[ours].engine.arbiter.mode == .link)
        #expect(abs(world.nodes[ours].link.sessionState.tempo.beatsPerMinute - 123.4) < 0.05)
        #expect(world.machine(of: ours).moves == [.start])
        #expect(world.nodes[ours].breaks == breaks)
        world.setLink(false, at: ours)
        try world.run(until: 20)
        #expect(world.nodes[ours].engine.arbiter.mode == .follow)
        #expect(world.machine(of: ours).moves == [.start])
        #expect(world.nodes[ours].breaks == breaks)
        try world.expectOnLeader(ours, within: 300)
    }

    @Test(arguments: Seeds.standing(1...30))
    func `enabling Link while following changes no tick, beat or tempo`(seed: UInt64) throws {
        var world = GatewayWorld("enabled at any moment", seed: seed)
        var random = SeededGenerator(seed: seed).split("moment")
        let ours = try world.addNode(tempo: 90)
        let (tempo, start) = (Double.random(in: 50...240, using: &random), Int.random(in: 24...200, using: &random))
        world.playLeader(at: ours, tempo: tempo, jitter: .gaussian(300), seconds: 1...12, seed: seed) {
            $0 == start ? [.start] : []
        }
        let moment = Double.random(in: 4...10, using: &random)
        try world.run(until: moment)
        try #require(world.nodes[ours].engine.arbiter.mode == .follow)
        let breaks = world.nodes[ours].breaks
        let isToPlay = world.transport(of: ours).isPlaying
        var before = world.shown(at: ours)
        world.setLink(true, at: ours)
        #expect(world.nodes[ours].engine.arbiter.mode == .link)
        for millisecond in 0..<400 {
            try world.run(until: moment + Double(millisecond) / 1_000)
            let after = world.shown(at: ours)
            #expect(after.tempo == before.tempo)
            let elapsed = Double(before.time.microseconds(to: after.time)) / 60e6 * before.tempo
            #expect(abs(after.beat - before.beat - elapsed) < 0.001)
            before = after
        }
        try world.run(until: moment + 2)
        #expect(world.nodes[ours].breaks == breaks)
        #expect(world.machine(of: ours).moves.count == (isToPlay ? 1 : 0))
    }

    @Test(arguments: [40.0, 60, 140, 160, 181, 240, 300])
    func `a much faster or slower leader takes over a playing song without breaking its ticks`(tempo: Double) throws {
        for seed in Seeds.standing(1...8) {
            var world = GatewayWorld("takeover", seed: seed)
            let ours = try world.addNode(tempo: 90)
            world.command(.setPlaying(true), at: ours)
            // The leader's ticks begin anywhere between two of ours.
            let start = 2 + Double(seed) * 0.003_5
            world.playLeader(at: ours, tempo: tempo, jitter: .none, seconds: start...10, seed: seed)
            try world.run(until: 8)
            #expect(world.nodes[ours].engine.arbiter.mode == .follow)
            #expect(world.nodes[ours].breaks == 0)
            #expect(world.machine(of: ours).moves == [.start])
        }
    }

    @Test(arguments: Seeds.standing(1...10))
    func `a Link session replaces the leader, and the leader takes over again when Link is disabled`(
        seed: UInt64
    ) throws {
        var world = GatewayWorld("follow to session", seed: seed)
        let (peer, ours) = (try world.addNode(tempo: 130), try world.addNode(tempo: 90))
        world.setLink(true, at: peer)
        world.command(.setPlaying(true), at: peer)
        world.playLeader(at: ours, tempo: 123.4, jitter: .gaussian(100), seconds: 1...40, seed: seed) {
            $0 == 96 ? [.start] : []
        }
        try world.run(until: 8)
        world.setLink(true, at: ours)
        try world.run(until: 14)
        try world.expectAligned([peer, ours])
        let refused = world.nodes[ours].engine.arbiter.follower.ignored.ticks
        #expect(refused > 200)
        #expect(abs(world.nodes[peer].link.sessionState.tempo.beatsPerMinute - 130) < 0.001)
        world.setLink(false, at: ours)
        try world.run(until: 14.9)
        #expect(abs(world.tempo(of: ours) - 123.4) < 0.1)
        // Its song was less than half a beat from the leader's, so it slews there.
        try world.run(until: 26)
        try world.expectOnLeader(ours, within: 300)
        #expect(world.machine(of: ours).moves == [.start, .stop, .continue])
    }

    @Test(arguments: Seeds.standing(1...5))
    func `the tempo of a leader that falls silent is held, and its return breaks no ticks`(seed: UInt64) throws {
        var world = GatewayWorld("silence", seed: seed)
        let ours = try world.addNode(tempo: 90)
        world.playLeader(at: ours, tempo: 123.4, jitter: .gaussian(100), seconds: 1...6, seed: seed) {
            $0 == 96 ? [.start] : []
        }
        try world.run(until: 7)
        #expect(world.nodes[ours].engine.arbiter.mode == .internal)
        #expect(world.nodes[ours].engine.arbiter.follower.state == .lost)
        #expect(abs(world.tempo(of: ours) - 123.4) < 0.1)
        let breaks = world.nodes[ours].breaks
        world.playLeader(at: ours, tempo: 123.4, jitter: .gaussian(100), seconds: 9.0071...20, seed: seed)
        try world.run(until: 18)
        #expect(world.nodes[ours].engine.arbiter.mode == .follow)
        #expect(world.machine(of: ours).isPlaying)
        #expect(world.nodes[ours].breaks == breaks)
    }

    @Test
    func `of two leaders the first steady one is followed, and the other is reported`() throws {
        var world = GatewayWorld("two leaders", seed: 1)
        let ours = try world.addNode(tempo: 90)
        let (first, second) = (GatewayWorld.leaderPorts[0], GatewayWorld.leaderPorts[1])
        world.playLeader(from: first, at: ours, tempo: 120, jitter: .none, seconds: 1...10, seed: 1)
        world.playLeader(from: second, at: ours, tempo: 140, jitter: .none, seconds: 1.2...20, seed: 2)
        try world.run(until: 9)
        #expect(abs(world.tempo(of: ours) - 120) < 0.05)
        let refused = world.nodes[ours].engine.arbiter.follower.ignoredClocks
        #expect(refused.map(\.source.description) == ["21:0"])
        #expect(refused.map(\.reason.rawValue) == ["another clock leads"])
        try world.run(until: 12)
        #expect(abs(world.tempo(of: ours) - 140) < 0.05, "the first has fallen silent")
        world.command(.follow(.port("20:0")), at: ours)
        try world.run(until: 13)
        #expect(world.nodes[ours].engine.arbiter.mode == .internal)
        #expect(abs(world.tempo(of: ours) - 140) < 0.05, "its tempo is held")
        world.command(.follow(.off), at: ours)
        #expect(world.nodes[ours].engine.arbiter.follower.state == .off)
    }

    @Test(arguments: [
        (60.0, 180.0), (180, 60), (120, 126), (126, 120), (90, 91), (240, 60), (300, 60), (480, 60), (20, 999),
    ])
    func `a leader that changes its tempo gets as many ticks as it sent`(from: Double, to: Double) throws {
        for seed in Seeds.standing(1...3) {
            var world = GatewayWorld("tempo step", seed: seed)
            let ours = try world.addNode(tempo: 90)
            let step = Int(from / 60 * 24 * 6)
            world.playLeader(
                at: ours, jitter: .gaussian(50), seconds: 1...25, seed: seed,
                tempo: { $0 < step ? from : to }
            ) { $0 == step / 2 ? [.start] : [] }
            try world.run(until: 6)
            let transport = world.machine(of: ours).moves
            try world.run(until: 20)
            #expect(abs(world.tempo(of: ours) - to) < to / 500)
            try world.expectOnLeader(ours, within: 400)
            #expect(world.machine(of: ours).isPlaying)
            #expect(transport == [.start])
        }
    }

    @Test
    func `while Link is enabled a leader has no effect, and its messages are counted`() throws {
        var world = GatewayWorld("refused", seed: 1)
        let (peer, ours) = (try world.addNode(tempo: 130), try world.addNode(tempo: 90))
        for node in [peer, ours] { world.setLink(true, at: node) }
        try world.run(until: 5)
        let line = world.line(of: peer)
        world.playLeader(at: ours, tempo: 999, jitter: .none, seconds: 5...15, seed: 1) {
            $0 % 100 == 0 ? [.start] : $0 % 100 == 50 ? [.songPosition(7), .continue] : $0 % 100 == 70 ? [.stop] : []
        }
        try world.run(until: 16)
        // Only the peer's measurements of the session's clock may still move its line.
        #expect(world.line(of: peer).microsecondsPerBeat == line.microsecondsPerBeat)
        #expect(abs(world.line(of: peer).timeOrigin.microseconds(to: line.timeOrigin)) < 200)
        #expect(world.machine(of: peer).moves.isEmpty && world.machine(of: ours).moves.isEmpty)
        let status = world.nodes[ours].engine.arbiter.follower
        #expect(status.state == .disabled && status.estimate == nil)
        #expect(status.ignored.ticks == 3_996)
        #expect(status.ignored.transport == 160)
        #expect(status.ignoredClocks.map(\.reason.rawValue) == ["Link is enabled"])
    }

    @Test(arguments: [12.0, 16, 18])
    func `a leader below 20 BPM is either dropped or still obeyed when it stops`(tempo: Double) throws {
        var world = GatewayWorld("too slow", seed: 1)
        let ours = try world.addNode(tempo: 90)
        world.playLeader(
            at: ours, jitter: .none, seconds: 1...60, seed: 1, tempo: { $0 < 240 ? 120 : tempo }
        ) { $0 == 96 ? [.start] : $0 == 300 ? [.stop] : [] }
        try world.run(until: 30)
        #expect(world.machine(of: ours).moves.last == .stop || world.nodes[ours].engine.arbiter.mode == .internal)
        try world.run(until: 62)
        #expect(world.nodes[ours].engine.arbiter.mode == .internal, "it has fallen silent")
    }

    @Test(arguments: Seeds.standing(1...10))
    func `while a leader has not sent Start or Stop, the user can play and stop`(seed: UInt64) throws {
        var world = GatewayWorld("clock alone", seed: seed)
        let ours = try world.addNode(tempo: 90)
        world.playLeader(at: ours, tempo: 123.4, jitter: .gaussian(100), seconds: 1...24, seed: seed) {
            $0 == 700 ? [.start] : []
        }
        try world.run(until: 4)
        #expect(world.nodes[ours].engine.arbiter.mode == .follow)
        let breaks = world.nodes[ours].breaks
        world.command(.setPlaying(true), at: ours)
        try world.run(until: 6)
        #expect(world.machine(of: ours).moves == [.start])
        let (now, plan) = (world.hostTime(of: ours), world.transport(of: ours))
        let position = world.line(of: ours).position(at: now) - Double(plan.startTick)
        let shown = world.nodes[ours].engine.arbiter.timeline.shownBeats(at: now, quantum: Beats(4)).value
        #expect(abs(shown - position / 24) < 0.001)
        world.command(.setPlaying(false), at: ours)
        world.command(.setPlaying(true), at: ours)
        try world.run(until: 8)
        #expect(world.machine(of: ours).moves == [.start, .stop, .start])
        #expect(world.nodes[ours].breaks == breaks)
        world.command(.setPlaying(false), at: ours)
        try world.run(until: 10)
        try world.expectOnLeader(ours, within: 300)
        // After its first Start the leader also controls play and stop.
        try world.run(until: 22)
        let moves = world.machine(of: ours).moves
        #expect(moves == [.start, .stop, .start, .stop, .start])
        #expect(world.nodes[ours].engine.arbiter.transportLeaderName != nil)
        world.command(.setPlaying(false), at: ours)
        try world.run(until: 23)
        #expect(world.machine(of: ours).moves == moves)
    }

    @Test
    func `a leader that appears at a port after a replug does not inherit the transport of the old one`() throws {
        var world = GatewayWorld("another machine", seed: 1)
        let ours = try world.addNode(tempo: 90)
        world.playLeader(at: ours, tempo: 120, jitter: .none, seconds: 1...6, seed: 1) { $0 == 96 ? [.start] : [] }
        try world.run(until: 6)
        #expect(world.machine(of: ours).moves == [.start])
        world.replugLeaders(of: ours)
        try world.run(until: 7)
        world.command(.setPlaying(false), at: ours)
        try world.run(until: 8)
        world.playLeader(at: ours, tempo: 125, jitter: .none, seconds: 9...15, seed: 2)
        try world.run(until: 14)
        #expect(world.nodes[ours].engine.arbiter.mode == .follow)
        #expect(world.machine(of: ours).moves == [.start, .stop])
    }

    @Test(arguments: Seeds.standing(1...5))
    func `a transport remote plays and stops the session on a bar, and its ticks are ignored`(seed: UInt64) throws {
        var world = GatewayWorld("remote", seed: seed)
        let remote = ["remote": "match: [Leader 1]\ninput: { transport: true }"]
        let (peer, ours) = (try world.addNode(tempo: 130), try world.addNode(tempo: 90, profiles: remote))
        for node in [peer, ours] {
            world.setLink(true, at: node)
            world.setStartStopSync(true, at: node)
        }
        world.playLeader(at: ours, tempo: 97, jitter: .none, seconds: 3...12, seed: seed) {
            $0 == 60 ? [.start] : $0 == 260 ? [.stop] : []
        }
        try world.run(until: 8)
        try world.expectAligned([peer, ours])
        let tempo = world.tempo(of: peer)
        try world.run(until: 13)
        for node in [peer, ours] { #expect(world.machine(of: node).moves == [.start, .stop]) }
        #expect([peer, ours].allSatisfy { world.tempo(of: $0) == tempo })
        #expect(world.nodes[ours].engine.arbiter.follower.ignored.ticks > 300)
    }

    /// `SIM_SEED=1...10000` runs ten thousand seeds instead of forty.
    @Test(arguments: Seeds.standing(1...40))
    func `no gateway obeys two leaders, whatever happens`(seed: UInt64) throws {
        var world = GatewayWorld("exclusion", seed: seed, conditions: LinkConditions(loss: 0.05))
        var random = SeededGenerator(seed: seed).split("people")
        let members = try [130.0, 77].map { try world.addNode(tempo: $0) }
        let sources = GatewayWorld.leaderPorts
        for _ in 0..<12 {
            let (node, source) = (members.randomElement(using: &random) ?? 0, sources.randomElement(using: &random))
            let tempo = Double.random(in: 60...999, using: &random)
            let start = Double.random(in: 0...5, using: &random)
            let isOn = random.chance(0.5)
            switch Int.random(in: 0..<6, using: &random) {
            case 0...2: world.at(start) { $0.setLink(isOn, at: node) }
            case 3:
                world.at(start) { $0.command(.follow(isOn ? .auto : .port("20:0")), at: node) }
            case 4:
                world.at(start) {
                    $0.command(isOn ? .setPlaying(true) : .setTempo(Tempo(beatsPerMinute: tempo)), at: node)
                }
            default:
                world.playLeader(
                    from: source ?? sources[0], at: node, tempo: tempo, jitter: .uniform(1_000),
                    seconds: start...(start + 2), seed: seed
                ) { $0 % 48 == 24 ? [.start] : $0 % 97 == 5 ? [.stop] : [] }
            }
        }
        try world.run(until: 7)
        for member in members {
            let isEnabled = world.nodes[member].link.isEnabled
            #expect(world.nodes[member].engine.arbiter.mode != .link || isEnabled)
        }
    }
}
