import ALSASequencer
import BeatTime
import MIDIClock
import Simulation

@testable import Gateway

/// A ``GatewayWorld`` with one gateway, whose properties can be read directly from the scene.
@dynamicMemberLookup
struct GatewayScene {
    private var world: GatewayWorld

    init(_ configuration: GatewayConfiguration, kept: KeptState = KeptState(), seed: UInt64 = 1) {
        world = GatewayWorld("scene", seed: seed)
        _ = world.addGateway(configuration, kept: kept)
        run(for: 2)
    }

    subscript<Value>(dynamicMember path: KeyPath<VirtualGateway, Value>) -> Value { world.nodes[0][keyPath: path] }

    subscript<Value>(dynamicMember path: ReferenceWritableKeyPath<VirtualGateway, Value>) -> Value {
        get { world.nodes[0][keyPath: path] }
        nonmutating set { world.nodes[0][keyPath: path] = newValue }
    }

    var now: HostTime { world.hostTime(of: 0) }

    /// Gives a command; the reply appears in `replies`.
    @discardableResult
    mutating func command(_ command: Command) -> ReplyToken { world.command(command, at: 0) }

    mutating func hear(_ events: [ClockInputEvent]) { world.take(.clocks(events), at: 0) }

    mutating func press(_ arrivals: [ControlArrival]) { world.press(arrivals, at: 0) }

    /// Makes an open line fail.
    mutating func breakLine(_ slot: Int) { world.nodes[0].outputThread.breakLine(slot) }

    /// Kills the gateway, and starts it again with what it has saved.
    mutating func kill(_ live: LiveConfiguration) { world.kill(0, live) }

    mutating func take(_ event: GatewayEvent) { world.take(event, at: 0) }

    /// Hands over events some of which were lost, as the gateway thread does.
    mutating func take(_ events: [GatewayEvent], lost: GatewayEvent.Present) {
        world.nodes[0].take(events, lost: lost)
    }

    /// Ends the run.
    mutating func end() { world.nodes[0].end() }

    /// Lets the given time pass.
    mutating func run(for milliseconds: Int64) {
        let end = world.now.advanced(byMicroseconds: milliseconds * 1_000)
        // A broken promise also stays in `broken`, which the tests check.
        try? world.run(until: Double(end.microseconds) / 1e6)
    }

    func output(_ name: String) -> Output? { world.nodes[0].output(name) }
    func hearers(of name: String) -> [Int] { world.nodes[0].hearers(of: name) }
    func refusal(_ token: ReplyToken) -> CommandError? { world.nodes[0].refusal(token) }
}
