import ALSASequencer
import Arbiter
import BeatTime
import ConfigurationFiles
import GatewayStatus
import LinkSession
import MIDIClock
import Simulation

@testable import Gateway

/// A field case played once: what our machine heard, and what the gateway showed meanwhile.
struct FieldPlay {
    let field: FieldCase
    /// What the machine heard, and the times in seconds.
    private(set) var heard: [(time: Double, message: ClockMessage)] = []
    private(set) var samples: [Sample] = []
    /// What went wrong on the way: a broken promise of the world, or a command whose answer was another.
    private(set) var faults: [String] = []

    /// What is shown at a moment.
    struct Sample {
        /// In seconds.
        var time: Double
        var mode: Mode
        var isPlaying: Bool
        var tempo: Double
        /// The followed or observed clock's tempo while it counts as locked.
        var lockedTempo: Double?
        /// Of all gateways in the session, our own first.
        var sessionTempos: [Double]
        /// Everything that tells people what is the matter.
        var notes: [String]
        var taps: TapTempo.Reading?
    }

    /// Time between two samples, in seconds.
    private static let step = 0.01

    /// Plays a case.
    init(_ field: FieldCase, seed: UInt64) throws {
        self.field = field
        var world = GatewayWorld(field.name, seed: seed)
        let ours = try Self.addGateways(of: field, to: &world)
        Self.schedule(field, seed: seed, at: ours, in: &world)
        var tokens: [(token: ReplyToken, event: FieldCase.Event, refusal: String?)] = []
        let commands = field.events.filter { if case .commands = $0.deed { true } else { false } }
            .sorted { $0.time < $1.time }
        var next = 0
        var time = 0.0
        do {
            while time < field.duration {
                time = min(time + Self.step, field.duration)
                while next < commands.count, commands[next].time <= time,
                    case .commands(let command, let refusal) = commands[next].deed
                {
                    try world.run(until: commands[next].time)
                    tokens.append((world.command(command, at: ours), commands[next], refusal))
                    next += 1
                }
                try world.run(until: time)
                samples.append(Self.sample(world, ours, at: time))
            }
        } catch let promise as BrokenPromise {
            faults.append(promise.description)
        }
        let gateway = world.nodes[ours]
        for (token, event, refusal) in tokens {
            if let fault = Self.fault(of: gateway.replies[token], refusal) {
                faults.append("\(field.file):\(event.place.line):\(event.place.column): \(fault)")
            }
        }
        heard = world.machine(of: ours).events.map {
            let time = gateway.clock.worldTime(of: HostTime(microseconds: $0.at))
            return (Double(time.microseconds) / 1e6, $0.message)
        }
    }

    /// What is wrong with the answer to a command; nil if nothing is.
    private static func fault(of answer: Result<Void, CommandError>?, _ refusal: String?) -> String? {
        switch (answer, refusal) {
        case (nil, _): "there is no answer"
        case (.success, let text?): "it is not refused with \"\(text)\", but done"
        case (.success, nil): nil
        case (.failure(let error), nil): "it is refused: \(error)"
        case (.failure(let error), let text?):
            "\(error)".contains(text) ? nil : "it is refused, but not with \"\(text)\": \(error)"
        }
    }

    /// Our gateway, which comes first, and the others of its session.
    private static func addGateways(of field: FieldCase, to world: inout GatewayWorld) throws -> Int {
        var profiles: [String: String] = [:]
        if let machine = field.machine { profiles["machine"] = "match: [Drums]\n\(machine)" }
        for (leader, profile) in field.leaderProfiles {
            profiles["leader-\(leader + 1)"] = "match: [Leader \(leader + 1)]\n\(profile)"
        }
        for (number, profile) in field.otherMachines.enumerated() {
            profiles["other-\(number + 1)"] = "match: [Other \(number + 1)]\n\(profile)"
        }
        let pedals = Set(field.events.compactMap { if case .presses(_, let port) = $0.deed { port } else { nil } })
        let ours = try world.addNode(tempo: field.tempo, profiles: profiles, controls: field.controls)
        for pedal in pedals { world.nodes[ours].sequencer.plug(Self.pedal(pedal)) }
        for number in field.otherMachines.indices {
            let name = "Other \(number + 1)"
            world.nodes[ours].sequencer.plug(.device(50 + number, name, "\(name) MIDI 1", card: 3 + number))
        }
        for tempo in field.peers {
            let peer = try world.addNode(tempo: tempo)
            world.setLink(true, at: peer)
        }
        if field.isLinkOn { world.setLink(true, at: ours) }
        return ours
    }

    private static func pedal(_ name: String) -> PortDescription { .device(40, name, name, card: 2) }

    private static func schedule(_ field: FieldCase, seed: UInt64, at node: Int, in world: inout GatewayWorld) {
        let random = SeededGenerator(seed: seed)
        for (number, clock) in field.clocks.enumerated() {
            var own = random.split("clock \(number)")
            for arrival in clock.arrivals(using: &own) {
                world.at(arrival.time) {
                    $0.hear(arrival.message, from: GatewayWorld.leaderPorts[clock.leader], at: node)
                }
            }
        }
        for event in field.events {
            switch event.deed {
            case .hears(let message, let leader):
                world.at(event.time) { $0.hear(message, from: GatewayWorld.leaderPorts[leader], at: node) }
            case .presses(let message, let port):
                world.at(event.time) {
                    let arrival = ControlArrival(message, at: $0.hostTime(of: node), from: pedal(port).address)
                    $0.press([arrival], at: node)
                }
            // As a browser tells it: the time by its own clock, and a moment later.
            case .taps:
                let time = HostTime(microseconds: Int64((event.time * 1e6).rounded()) + 1_000_000_000)
                world.at(event.time + 0.005) { $0.command(.tap(at: time), at: node) }
            case .commands: break
            }
        }
    }

    private static func sample(_ world: GatewayWorld, _ node: Int, at time: Double) -> Sample {
        let gateway = world.nodes[node]
        let arbiter = gateway.engine.arbiter
        let follower = arbiter.leadership.follower
        let warnings =
            gateway.engine.inputs.notices(arbiter, gateway.engine.outputs.all)
            + gateway.engine.controls.notices
        return Sample(
            time: time, mode: Mode(arbiter.mode), isPlaying: arbiter.transport.isPlaying,
            tempo: arbiter.timeline.tempo.beatsPerMinute,
            lockedTempo: follower.state == .locked ? follower.estimate?.beatsPerMinute : nil,
            sessionTempos: world.nodes.map { $0.link.sessionState.tempo.beatsPerMinute },
            notes: [follower.reason, follower.seen?.text ?? ""] + warnings.flatMap { [$0.message, $0.fix] },
            taps: gateway.engine.tapped?.reading)
    }
}
