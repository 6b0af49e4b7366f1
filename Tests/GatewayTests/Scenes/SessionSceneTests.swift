import ALSASequencer
import BeatTime
import ConfigurationFiles
import LinkNetwork
import LinkSession
import MIDIClock
import Simulation
import Testing

@testable import Arbiter
@testable import Gateway

/// What drum machines hear when gateways join and leave Link sessions; in virtual time.
@Suite
struct SessionSceneTests {
    @Test(arguments: Seeds.standing(1...10))
    func `BEATTIME-1: switching Link on and off without peers does not affect a playing machine`(seed: UInt64) throws {
        var world = GatewayWorld("BEATTIME-1", seed: seed)
        let ours = try world.addNode(tempo: 133.7)
        world.at(1) { $0.command(.setPlaying(true), at: ours) }
        world.at(4.321) { $0.setLink(true, at: ours) }
        world.at(9.876) { $0.setLink(false, at: ours) }
        try world.run(until: 15)
        #expect(world.machine(of: ours).transport == [.start])
        #expect(world.nodes[ours].breaks == 0)
    }

    @Test
    func `with nothing to drive Link leaves its session if so configured, and returns with a machine`() throws {
        var world = GatewayWorld("idle", seed: 1)
        let peer = try world.addNode(tempo: 120)
        world.setLink(true, at: peer)
        var configuration = GatewayConfiguration()
        configuration.live.deactivatesWhenIdle = true
        configuration.live.outputs.library = try .of(["drums": "match: [TR-8S]"])
        let ours = world.addGateway(configuration)
        try world.run(until: 2)
        #expect(world.nodes[peer].link.peerCount == 1)
        try world.run(until: 5)
        #expect(world.nodes[peer].link.peerCount == 0)
        world.nodes[ours].sequencer.plug(.device(24, "TR-8S", "TR-8S MIDI 1", card: 1, at: "usb-1"))
        try world.run(until: 7)
        #expect(world.nodes[peer].link.peerCount == 1)
    }

    @Test
    func `a session's clock that can no longer be measured is shown to be known worse and worse`() throws {
        var world = GatewayWorld("dropped", seed: 1, conditions: LinkConditions(delay: 1_500, jitter: 1_000))
        let (peer, ours) = (try world.addNode(tempo: 130), try world.addNode(tempo: 77))
        world.setLink(true, at: peer)
        world.at(5) { $0.setLink(true, at: ours) }
        try world.run(until: 25)
        func shown() -> (error: Double, warnings: [String]) {
            let status = world.nodes[ours].status
            return (status.link.measurementErrorMicroseconds ?? 0, status.linkNotices.map(\.code))
        }
        let measured = shown()
        #expect(measured.error < 3_000 && !measured.warnings.contains("link-clock"))
        world.medium.losesUnicast = true
        try world.run(until: 70)
        #expect(shown().error > 5_000 && shown().warnings.contains("link-clock"))
        world.medium.losesUnicast = false
        try world.run(until: 75)
        #expect(shown().error < measured.error + 1_000 && !shown().warnings.contains("link-clock"))
    }

    @Test(arguments: Seeds.standing(1...10))
    func `BEATTIME-2: a joining peer does not affect the machine of the session's founder`(seed: UInt64) throws {
        var world = GatewayWorld("BEATTIME-2", seed: seed)
        let (ours, peer) = (try world.addNode(tempo: 130), try world.addNode(tempo: 77))
        world.setLink(true, at: ours)
        world.at(1) { $0.command(.setPlaying(true), at: ours) }
        world.at(5) { $0.setLink(true, at: peer) }
        try world.run(until: 10)
        #expect(world.machine(of: ours).transport == [.start])
        #expect(world.nodes[ours].breaks == 0)
        #expect(world.nodes[peer].link.sessionState.tempo.beatsPerMinute.rounded() == 130)
    }

    @Test(arguments: Seeds.standing(1...10))
    func `a gateway that joins a session starts playing on the session's bar`(seed: UInt64) throws {
        var world = GatewayWorld("start on the bar", seed: seed)
        let (peer, ours) = (try world.addNode(tempo: 130), try world.addNode(tempo: 77))
        world.setLink(true, at: peer)
        world.at(1) { $0.command(.setPlaying(true), at: peer) }
        world.at(5) { $0.setLink(true, at: ours) }
        world.at(7.1) { $0.command(.setPlaying(true), at: ours) }
        try world.run(until: 12)
        #expect(world.machine(of: ours).transport == [.start])
        try world.expectAligned([peer, ours])
    }

    @Test(arguments: Seeds.standing(1...10))
    func `STARTSTOPSTATE-1: with sync on, play and stop reach every machine`(seed: UInt64) throws {
        var world = GatewayWorld("STARTSTOPSTATE-1", seed: seed)
        let members = try [130.0, 77, 90].map { try world.addNode(tempo: $0) }
        for member in members {
            world.setLink(true, at: member)
            world.setStartStopSync(true, at: member)
        }
        world.at(3) { $0.command(.setPlaying(true), at: members[1]) }
        try world.run(until: 8)
        try world.expectAligned(members)
        world.command(.setPlaying(false), at: members[2])
        try world.run(until: 9)
        for member in members {
            #expect(world.machine(of: member).transport == [.start, .stop])
        }
    }

    @Test(arguments: Seeds.standing(1...10))
    func `a playing machine is realigned to the session's bar at most once on joining`(seed: UInt64) throws {
        var world = GatewayWorld("join while playing", seed: seed)
        let (peer, ours) = (try world.addNode(tempo: 130), try world.addNode(tempo: 77))
        world.setLink(true, at: peer)
        world.command(.setPlaying(true), at: peer)
        world.at(1) { $0.command(.setPlaying(true), at: ours) }
        world.at(5.3) { $0.setLink(true, at: ours) }
        try world.run(until: 10)
        let transport = world.machine(of: ours).transport
        #expect(transport.first == .start)
        #expect(transport.count { $0 == .stop } <= 1)
        try world.expectAligned([peer, ours])
    }

    @Test(arguments: Seeds.standing(1...10))
    func `machines play on without interruption when the founder leaves`(seed: UInt64) throws {
        var world = GatewayWorld("founder leaves", seed: seed)
        let members = try [130.0, 77, 90].map { try world.addNode(tempo: $0) }
        for member in members { world.at(Double(member) * 2) { $0.setLink(true, at: member) } }
        for member in members { world.at(7) { $0.command(.setPlaying(true), at: member) } }
        world.at(12) { $0.setLink(false, at: members[0]) }
        world.at(14) { $0.setLink(false, at: members[1]) }
        try world.run(until: 18)
        for member in members { #expect(world.machine(of: member).transport == [.start]) }
        // Outside a session, the gateways' clocks drift apart by up to 60 us per second.
        try world.expectAligned(members, within: 1_200)
    }

    @Test(arguments: Seeds.standing(1...10))
    func `no machine loses a tick while the tempo sweeps from 20 to 999 BPM`(seed: UInt64) throws {
        var world = GatewayWorld("tempo sweep", seed: seed)
        let (peer, ours) = (try world.addNode(tempo: 130), try world.addNode(tempo: 77))
        world.setLink(true, at: peer)
        world.at(2) { $0.setLink(true, at: ours) }
        for node in [peer, ours] { world.at(3) { $0.command(.setPlaying(true), at: node) } }
        for step in 0..<400 {
            let tempo = 20 + 979 * abs(Double(step % 200) / 100 - 1)
            world.at(6 + Double(step) * 0.02) { $0.command(.setTempo(Tempo(beatsPerMinute: tempo)), at: peer) }
        }
        try world.run(until: 16)
        for node in [peer, ours] {
            #expect(world.machine(of: node).transport == [.start])
            #expect(world.nodes[node].breaks == 0)
        }
        // Since the measurement on joining, their clocks may have drifted apart by 60 us per second.
        try world.expectAligned([peer, ours], within: 900)
    }

    @Test(arguments: [40, 97.3, 132, 999])
    func `a tempo change while Start is pending keeps it on the same bar`(tempo: Double) throws {
        for isSynced in [false, true] {
            var world = GatewayWorld("pending", seed: 1)
            let (peer, ours) = (try world.addNode(tempo: 120), try world.addNode(tempo: 77))
            world.setLink(true, at: peer)
            world.at(2) { $0.setLink(true, at: ours) }
            world.setStartStopSync(isSynced, at: ours)
            world.at(4.3) { $0.command(.setPlaying(true), at: ours) }
            try world.run(until: 4.4)
            let pending = world.nodes[ours].engine.arbiter.transport
            #expect(Double(pending.startTick) > world.line(of: ours).position(at: world.hostTime(of: ours)))
            world.command(.setTempo(Tempo(beatsPerMinute: tempo)), at: peer)
            try world.run(until: 12)
            #expect(world.nodes[ours].engine.arbiter.transport == pending)
            #expect(world.machine(of: ours).transport == [.start])
        }
    }

    @Test
    func `a stop followed at once by play restarts the song everywhere`() throws {
        var world = GatewayWorld("restart", seed: 1)
        let members = try [130.0, 77].map { try world.addNode(tempo: $0) }
        for member in members {
            world.setLink(true, at: member)
            world.setStartStopSync(true, at: member)
        }
        world.at(3) { $0.command(.setPlaying(true), at: members[0]) }
        try world.run(until: 9)
        world.command(.setPlaying(false), at: members[0])
        world.command(.setPlaying(true), at: members[0])
        try world.run(until: 13)
        for member in members { #expect(world.machine(of: member).transport == [.start, .stop, .start]) }
        try world.expectAligned(members)
    }

    @Test
    func `an output that sends late keeps to the old tempo by as much`() throws {
        var world = GatewayWorld("late output", seed: 1)
        let ours = try world.addNode(tempo: 100)
        world.command(.adjust(output: nil, OutputAdjustment(offset: 50)), at: ours)
        world.at(1) { $0.command(.setPlaying(true), at: ours) }
        try world.run(until: 3.01)
        let change = world.hostTime(of: ours).microseconds
        world.command(.setTempo(Tempo(beatsPerMinute: 999)), at: ours)
        try world.run(until: 5)
        let ticks = world.machine(of: ours).ticks
        // In this simulation, the output thread wakes up to 150 us late, and each of its calls takes 5 us.
        for (first, second) in zip(ticks, ticks.dropFirst()) {
            if second < change + 50_000 { #expect(abs(second - first - 25_000) <= 180) }
            if first > change + 51_000 { #expect(abs(second - first - 2_502) <= 180) }
        }
        #expect(ticks.count { (change..<change + 50_000).contains($0) } == 2)
        #expect(world.nodes[ours].breaks == 0)
    }

    @Test
    func `an output that sends early waits for a lower tempo, also while its offset changes`() throws {
        var world = GatewayWorld("early output", seed: 1)
        let ours = try world.addNode(tempo: 590)
        world.command(.adjust(output: nil, OutputAdjustment(offset: -28)), at: ours)
        world.at(1) { $0.command(.setPlaying(true), at: ours) }
        try world.run(until: 3)
        let change = world.hostTime(of: ours).microseconds
        // 28 ms were six ticks, and become less than one.
        world.command(.setTempo(Tempo(beatsPerMinute: 55)), at: ours)
        try world.run(until: 3.06)
        world.command(.adjust(output: nil, OutputAdjustment(offset: -34)), at: ours)
        try world.run(until: 5)
        let next = try #require(world.machine(of: ours).ticks.first { $0 > change + 5_000 })
        #expect((250_000..<320_000).contains(next - change))
        #expect(world.machine(of: ours).transport == [.start])
        #expect(world.nodes[ours].breaks == 0)
    }

    @Test(arguments: [0, 0.5, 0.7, 3, 7])
    func `the quantum decides where the song starts, but not when ticks are sent`(quantum: Double) throws {
        var trains: [[Int64]] = []
        for quantum in [4, quantum] {
            var world = GatewayWorld("quantum", seed: 1)
            let peer = try world.addNode(tempo: 130)
            let ours = try world.addNode(tempo: 77, quantum: quantum)
            world.setLink(true, at: peer)
            world.at(2) { $0.setLink(true, at: ours) }
            world.at(4.4) { $0.command(.setPlaying(true), at: ours) }
            try world.run(until: 12)
            #expect(world.machine(of: ours).transport == [.start])
            trains.append(world.machine(of: ours).ticks)
            let start = Double(world.transport(of: ours).startTick - world.line(of: ours).tickOrigin) / 24
            let pastBoundary = quantum == 0 ? 0 : start - (start / quantum + 1e-9).rounded(.down) * quantum
            #expect(pastBoundary < 1.0 / 24, "the song starts \(pastBoundary) beats after a boundary")
        }
        #expect(trains[0].count == trains[1].count)
        #expect(zip(trains[0], trains[1]).allSatisfy { abs($0 - $1) <= 152 })
    }

    @Test(arguments: Seeds.standing(1...12, and: [99, 348]))
    func `on a bad network machines lose no tick, and end up aligned`(seed: UInt64) throws {
        let conditions = LinkConditions(delay: 2_000, jitter: 6_000, loss: 0.05, duplication: 0.02, reordering: 0.05)
        var world = GatewayWorld("bad network", seed: seed, conditions: conditions)
        var random = SeededGenerator(seed: seed).split("people")
        let members = try (0..<4).map { _ in try world.addNode(tempo: Double.random(in: 60...180, using: &random)) }
        for member in members {
            world.setStartStopSync(true, at: member)
            world.setLink(true, at: member)
        }
        for step in 1...120 {
            let node = Int.random(in: 0..<4, using: &random)
            let tempo = Tempo(beatsPerMinute: Double.random(in: 20...999, using: &random))
            let choice = Int.random(in: 0..<13, using: &random)
            world.at(Double(step) * 0.25 + Double.random(in: 0...0.25, using: &random)) { world in
                switch choice {
                case 0...3: world.command(.setTempo(tempo), at: node)
                case 4, 5: world.command(.setPlaying(true), at: node)
                case 6, 7: world.command(.setPlaying(false), at: node)
                case 8: world.setLink(false, at: node)
                case 9: world.setLink(true, at: node)
                case 10:
                    let offset = OutputAdjustment(offset: (tempo.beatsPerMinute / 10).rounded() - 50)
                    world.command(.adjust(output: nil, offset), at: node)
                case 11: world.medium.network.partition([[node]])
                default: world.medium.network.heal()
                }
            }
        }
        world.at(32) { world in
            world.medium.network.heal()
            world.medium.network.conditions = LinkConditions()
            for member in members { world.setLink(true, at: member) }
        }
        // Every peer measures the session again within 30 s. Stop first, so that play is a change for all of them.
        world.at(70) { $0.command(.setTempo(Tempo(beatsPerMinute: 120)), at: 0) }
        world.at(71) { world in for member in members { world.command(.setPlaying(false), at: member) } }
        world.at(73) { $0.command(.setPlaying(true), at: 1) }
        try world.run(until: 80)
        #expect(members.allSatisfy { world.nodes[$0].link.peerCount == 3 })
        try world.expectAligned(members, within: 3_000)
    }

    @Test
    func `corrections of the session's clock change tick intervals by at most 0.5 %`() throws {
        // Every 30 s a measurement corrects the drift between two clocks, over a network with uneven delays.
        var world = GatewayWorld("glide", seed: 3, conditions: LinkConditions(delay: 1_000, jitter: 1_500))
        let (peer, ours) = (try world.addNode(tempo: 120), try world.addNode(tempo: 77))
        world.setLink(true, at: peer)
        world.at(2) { $0.setLink(true, at: ours) }
        world.at(4) { $0.command(.setPlaying(true), at: ours) }
        try world.run(until: 7)
        let (settled, breaks) = (world.hostTime(of: ours).microseconds, world.nodes[ours].breaks)
        let corrected = world.nodes[ours].link.clockSteps
        try world.run(until: 200)
        #expect(abs(world.nodes[ours].link.clockSteps - corrected) > 100, "there were corrections")
        #expect(world.machine(of: ours).transport == [.start])
        let ticks = world.machine(of: ours).ticks.filter { $0 > settled }
        let nominal = 500_000.0 / 24
        // In this simulation, the output thread wakes up to 150 us late.
        for (first, second) in zip(ticks, ticks.dropFirst()) {
            #expect(abs(Double(second - first) - nominal) <= nominal * RateAccumulator.rateLimit + 152)
        }
        #expect(world.nodes[ours].breaks == breaks)
    }

    @Test
    func `the same seed gives the same run`() throws {
        func digest(_ seed: UInt64) throws -> Digest {
            var world = GatewayWorld("determinism", seed: seed, conditions: LinkConditions(loss: 0.1))
            let (peer, ours) = (try world.addNode(tempo: 130), try world.addNode(tempo: 77))
            for node in [peer, ours] { world.setLink(true, at: node) }
            world.at(2) { $0.command(.setPlaying(true), at: ours) }
            try world.run(until: 5)
            return world.trace.digest
        }
        #expect(try digest(7) == digest(7))
        #expect(try digest(7) != digest(8))
    }
}
