internal import ALSASequencer
internal import BeatTime
internal import ConfigurationFiles
internal import GatewayStatus
internal import MIDIClock

/// The buttons and pedals that give commands: hears them where they are, and tells what was pressed.
///
/// Owned by the gateway thread.
struct ControlRack {
    private var controls: [Control] = []
    private let control: SequencerControl?
    /// Opened when there is something to hear.
    private var input: ControlInput?
    /// Why it could not be.
    private var trouble: String?
    private var presses = PressDetector()
    /// Where the ports are, by the names the user gave them.
    private var ports: [String: PortAddress] = [:]
    /// Why ports are away, by the same names.
    private var away: [String: String?] = [:]
    /// What was refused last, by what was to be done.
    private var refusals: [Control.Verb: CommandRefusal] = [:]

    /// What somebody's pressing a button means.
    struct Press: Hashable {
        var verb: Control.Verb
        /// The port as the user has named it.
        var port: String
        var command: Command
    }

    /// A rack without controls.
    ///
    /// - Parameter control: makes subscriptions; nil where there is no sequencer.
    init(_ control: SequencerControl?) { self.control = control }

    /// Readable when something has come; nil while there is nothing to hear.
    var descriptor: Int32? { input?.descriptor }

    /// Takes the controls that are wanted now; ``update(own:)`` is to follow.
    mutating func configure(_ controls: [Control]) {
        self.controls = controls
        refusals = [:]
        presses = PressDetector()
        trouble = nil
        guard !controls.isEmpty else { return input = nil }
        guard input == nil else { return }
        guard control != nil else {
            return trouble = "the sequencer was not there, or not needed, at the start; start the gateway again"
        }
        do {
            input = try ControlInput(name: "Tactus Controls")
        } catch {
            trouble = error.description
        }
    }

    /// Brings subscriptions up to date with the ports there are.
    ///
    /// - Parameter own: the numbers of the gateway's own clients, which press no buttons.
    mutating func update(own: Set<Int>) {
        let before = Set(ports.values)
        (ports, away) = ([:], [:])
        guard let control, let input else {
            for name in names { away[name] = trouble }
            return
        }
        let all = control.ports().filter { $0.isReadable && !own.contains($0.address.client) }
        for name in names {
            switch NameMatch(name, among: all) {
            case .found(let port): ports[name] = port.address
            case .none: away[name] = .some(nil)
            case .ambiguous(let several): away[name] = UnclearName(name, meaning: several, among: all).description
            }
        }
        for gone in before.subtracting(ports.values) { control.unsubscribe(input.address, from: gone) }
        for (name, port) in ports {
            do {
                try control.subscribe(input.address, to: port)
            } catch {
                ports[name] = nil
                away[name] = error.description
            }
        }
    }

    /// The ports that the user has named, each once and in order.
    private var names: [String] { Set(controls.map(\.port.value)).sorted() }

    /// Takes what has come.
    ///
    /// - Returns: what was pressed, in the order it was.
    mutating func take() -> [Press] {
        guard let input else { return [] }
        return input.take().flatMap { received($0) }
    }

    /// What a message means; several things perhaps, or none.
    private mutating func received(_ arrival: ControlArrival) -> [Press] {
        let meant = controls.filter {
            ports[$0.port.value] == arrival.source && $0.message.matches(arrival.message)
        }
        guard !meant.isEmpty, presses.isPress(arrival) else { return [] }
        return meant.map { Press(verb: $0.verb, port: $0.port.value, command: $0.verb.command(at: arrival.time)) }
    }

    /// Notes what became of a press.
    ///
    /// - Returns: whether it is news, for the log and the status.
    mutating func note(_ press: Press, _ refusal: CommandRefusal?) -> Bool {
        let before = refusals
        // What was too far for one nudge is not for the other, and then no longer for either.
        if refusal == nil, press.verb.isNudge { refusals = refusals.filter { !$0.key.isNudge } }
        refusals[press.verb] = refusal
        return refusals != before
    }

    /// What the user should know.
    var warnings: [Status.Warning] {
        away.sorted { $0.key < $1.key }.map { name, why in
            .init(
                code: "control-away", message: "the port of controls \(name) is away\(why.map { ": \($0)" } ?? "")",
                fix: "connect it; 'tactus ports' lists what is there")
        }
            + refusals.sorted { $0.key.rawValue < $1.key.rawValue }.map { verb, refusal in
                .init(
                    code: "control-refused", message: "\(verb.rawValue) of a control was refused: \(refusal.problem)",
                    fix: refusal.advice ?? "try again")
            }
    }
}

extension Control.Verb {
    /// How much a press moves, in milliseconds.
    private static let nudge = 1.0

    fileprivate var isNudge: Bool { self == .nudgeEarlier || self == .nudgeLater }

    /// The command it stands for.
    ///
    /// - Parameter time: when the button was pressed.
    /// - Returns: the command.
    func command(at time: HostTime) -> Command {
        switch self {
        case .play: .setPlaying(true)
        case .stop: .setPlaying(false)
        case .togglePlay: .togglePlaying
        case .tap: .tap(at: time)
        case .nudgeEarlier: .adjust(output: nil, OutputAdjustment(nudge: -Self.nudge))
        case .nudgeLater: .adjust(output: nil, OutputAdjustment(nudge: Self.nudge))
        case .realign: .realign(output: nil, .atBar)
        case .toggleLink: .toggleLink
        case .linkOn: .enableLink(true)
        case .linkOff: .enableLink(false)
        }
    }
}
