import BeatTime
import GatewayStatus
import MIDIClock
import Simulation
import Testing

@testable import Arbiter
@testable import Gateway

/// What whole gateways do when their own clock comes back to them.
///
/// All in virtual time.
@Suite
struct LoopSceneTests {
    @Test(arguments: Seeds.standing(1...5))
    func `an echo of our ticks never leads, and another machine still can`(seed: UInt64) throws {
        var world = GatewayWorld("echo", seed: seed)
        let ours = try world.addNode(tempo: 120)
        let (echo, other) = (GatewayWorld.leaderPorts[0], GatewayWorld.leaderPorts[1])
        world.passTicks(of: ours, to: ours, late: 8_000, seconds: 1...15)
        // Two beats, and half a second in which a gateway may be busy.
        try world.run(until: 2.5)
        #expect(world.nodes[ours].engine.arbiter.loops.map(\.source) == [echo])
        try world.run(until: 4)
        #expect(world.nodes[ours].engine.arbiter.mode == .internal && world.tempo(of: ours) == 120)
        world.playLeader(from: other, at: ours, tempo: 126, jitter: .gaussian(100), seconds: 5...30, seed: seed)
        try world.run(until: 8)
        #expect(world.nodes[ours].engine.arbiter.mode == .follow)
        try world.run(until: 20)
        #expect(abs(world.tempo(of: ours) - 126) < 0.1)
        #expect(world.nodes[ours].engine.arbiter.loops.isEmpty)
    }
}

extension GatewayWorld {
    /// Has what a gateway's drum machine receives arrive at a gateway's first leader port as well.
    ///
    /// - Parameters:
    ///   - sender: the gateway whose ticks are passed on.
    ///   - receiver: the gateway that hears them.
    ///   - late: microseconds on the way, at least 5,000.
    ///   - seconds: when this begins and ends, in seconds since the world began.
    fileprivate mutating func passTicks(of sender: Int, to receiver: Int, late: Int64, seconds: ClosedRange<Double>) {
        at(seconds.lowerBound) { world in
            let recent = world.hostTime(of: sender).microseconds - 5_000
            let events = world.machine(of: sender).events.suffix(8)
            for event in events where event.message == .timingClock && event.at > recent {
                let sent = world.nodes[sender].clock.worldTime(of: HostTime(microseconds: event.at))
                world.at(Double(sent.microseconds + late) / 1e6) {
                    $0.hear(.timingClock, from: Self.leaderPorts[0], at: receiver)
                }
            }
            let next = seconds.lowerBound + 0.005
            guard next < seconds.upperBound else { return }
            world.passTicks(of: sender, to: receiver, late: late, seconds: next...seconds.upperBound)
        }
    }
}
