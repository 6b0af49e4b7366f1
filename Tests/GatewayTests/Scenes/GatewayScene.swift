import ALSASequencer
import BeatTime
import MIDIClock
import Simulation

@testable import Gateway

/// One gateway in virtual time: a ``GatewayWorld`` of one, whose gateway's properties are its own.
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

    /// Gives a command; `replies` takes its outcome.
    @discardableResult
    mutating func command(_ command: Command) -> ReplyToken { world.command(command, at: 0) }

    mutating func hear(_ events: [ClockInputEvent]) { world.take(.clocks(events), at: 0) }

    mutating func press(_ arrivals: [ControlArrival]) { world.take(.controls(arrivals), at: 0) }

    /// A line that is open takes no more.
    mutating func breakLine(_ slot: Int) { world.nodes[0].clockThread.breakLine(slot) }

    /// Has milliseconds pass, and everybody do what they have to.
    mutating func run(for milliseconds: Int64) {
        let end = world.now.advanced(byMicroseconds: milliseconds * 1_000)
        // What is broken stays there to be seen.
        try? world.run(until: Double(end.microseconds) / 1e6)
    }

    func output(_ name: String) -> Output? { world.nodes[0].output(name) }
    func hearers(of name: String) -> [Int] { world.nodes[0].hearers(of: name) }
    func refusal(_ token: ReplyToken) -> CommandError? { world.nodes[0].refusal(token) }
}
