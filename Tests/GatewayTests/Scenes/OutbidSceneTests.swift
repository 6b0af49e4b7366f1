import BeatTime
import LinkNetwork
import LinkSession
import MIDIClock
import Simulation
import Testing

@testable import Gateway

/// What machines hear while strangers outbid each other for the session's tempo, and what people are told.
@Suite
struct OutbidSceneTests {
    /// The most beats per minute that a machine was sent over 24 ticks, and the longest time between two of them.
    private func extremes(_ machine: DrumMachine) -> (fastest: Double, longestGap: Int64) {
        let times = machine.events.filter { $0.message == .timingClock }.map(\.at)
        let beats = zip(times, times.dropFirst(24)).map { $1 - $0 }
        return (60e6 / Double(beats.min() ?? .max), zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0)
    }

    /// Has the session's timeline become another one, as after an announcement or a join.
    private func outbid(_ world: inout GatewayWorld, _ change: (inout SessionState, HostTime) -> Void) {
        let now = world.hostTime(of: 0)
        var engine = world.nodes[0].link
        _ = engine.edit(at: now) { change(&$0, now) }
        world.nodes[0].link = engine
        world.take(.link(LinkState(engine)), at: 0)
    }

    @Test(arguments: Seeds.standing(1...10), [false, true])
    func `two hundred tempos in four seconds never make a machine hear more than 999 BPM`(
        seed: UInt64, changesPhase: Bool
    ) throws {
        var world = GatewayWorld("outbids", seed: seed)
        let ours = try world.addNode(tempo: 120)
        world.setLink(true, at: ours)
        world.at(1) { $0.command(.setPlaying(true), at: ours) }
        var random = SeededGenerator(seed: seed)
        for step in 0..<200 {
            let tempo = [20, 999, Double.random(in: 20...999, using: &random)][step % 3]
            let beat = Beats(Double.random(in: 0...4, using: &random))
            let late = Int64.random(in: 0...50_000, using: &random)
            world.at(3 + Double(step) * 0.02) { world in
                self.outbid(&world) { state, now in
                    // What is heard of an edit is as old as the network is slow.
                    state.setTempo(Tempo(beatsPerMinute: tempo), at: now.advanced(byMicroseconds: -late))
                    if changesPhase { state.forceBeat(beat, at: now, quantum: Beats(4)) }
                }
            }
        }
        try world.run(until: 9)
        let (fastest, longestGap) = extremes(world.machine(of: ours))
        #expect(fastest < 999 * 1.01)
        #expect(longestGap < 2 * 125_000)
    }

    @Test(arguments: Seeds.standing(1...10))
    func `twenty-five ever older sessions never make a machine hear more than 999 BPM`(seed: UInt64) throws {
        var world = GatewayWorld("ever older sessions", seed: seed)
        let ours = try world.addNode(tempo: 120)
        world.setLink(true, at: ours)
        world.at(1) { $0.command(.setPlaying(true), at: ours) }
        var random = SeededGenerator(seed: seed)
        for step in 0..<25 {
            let tempo = Double.random(in: 20...999, using: &random)
            let beat = Beats(Double.random(in: 0...4, using: &random))
            world.at(3 + Double(step) * Double.random(in: 0.04...0.05, using: &random)) { world in
                self.outbid(&world) { state, now in
                    state.setTempo(Tempo(beatsPerMinute: tempo), at: now)
                    state.forceBeat(beat, at: now, quantum: Beats(4))
                }
            }
        }
        try world.run(until: 6)
        #expect(extremes(world.machine(of: ours)).fastest < 999 * 1.01)
    }
}
