internal import ALSASequencer
internal import BeatTime
internal import ConfigurationFiles
internal import GatewayStatus
internal import MIDIClock

/// The buttons and pedals that give commands: has them subscribed, and tells what was pressed.
struct ControlTable: Sendable {
    private var controls: [Control] = []
    private let hasSequencer: Bool
    /// The port that hears them; nil while there is none.
    private var input: PortAddress?
    /// Why there is none.
    private var trouble: String?
    private var detector = PressDetector()
    /// Where the ports are, by the names the user gave them.
    private var ports: [String: PortAddress] = [:]
    /// Why ports are away, by the same names.
    private var away: [String: String?] = [:]
    /// What was refused last, by what was to be done.
    private var refusals: [Control.Verb: CommandError] = [:]

    /// What somebody's pressing a button means.
    struct Press: Hashable {
        var verb: Control.Verb
        /// The port as the user has named it.
        var port: String
        var command: Command
    }

    /// A table that has not looked yet; ``update(_:own:_:)`` does.
    ///
    /// - Parameters:
    ///   - controls: what the user wants.
    ///   - hasSequencer: whether anything can be heard at all.
    init(_ controls: [Control], hasSequencer: Bool) {
        self.hasSequencer = hasSequencer
        configure(controls)
    }

    /// The number of the client that hears them.
    var client: Int? { input?.client }

    /// Whether there is anything to hear, and a sequencer to hear it by.
    var wantsInput: Bool { !controls.isEmpty && hasSequencer }

    /// Takes the controls that are wanted now.
    mutating func configure(_ controls: [Control]) {
        self.controls = controls
        refusals = [:]
        detector = PressDetector()
        trouble = nil
        if !wantsInput { input = nil }
        if !controls.isEmpty, !hasSequencer {
            trouble = "the sequencer was not there, or not needed, at the start; start the gateway again"
        }
    }

    /// Notes the port that hears them from now on.
    mutating func opened(_ port: PortAddress) { (input, trouble) = (port, nil) }

    /// Notes why there is no port to hear them by.
    mutating func notOpened(because trouble: String) { self.trouble = trouble }

    /// Brings subscriptions up to date with the ports there are.
    ///
    /// - Parameters:
    ///   - patchbay: the ports and subscriptions; takes those that are wanted.
    ///   - own: the numbers of the gateway's own clients, which press no buttons.
    ///   - effects: receives what is to be done for it.
    mutating func update(_ patchbay: inout Patchbay, own: Set<Int>, _ effects: inout GatewayEffects) {
        (ports, away) = ([:], [:])
        guard let input else {
            for name in names { away[name] = trouble }
            return
        }
        let all = patchbay.list.senders(except: own)
        for name in names {
            switch NameMatch(name, among: all) {
            case .found(let port): ports[name] = port.address
            case .none: away[name] = .some(nil)
            case .ambiguous(let several): away[name] = UnclearName(name, meaning: several, among: all).description
            }
        }
        let wanted = Set(ports.values.map { Patchbay.Subscription(from: $0, to: input) })
        patchbay.unsubscribe(except: wanted, where: { $0.receiver == input }, &effects)
        for (name, port) in ports {
            guard case .refused(let error) = patchbay.subscribe(.init(from: port, to: input), &effects) else {
                continue
            }
            ports[name] = nil
            away[name] = error.description
        }
    }

    /// The ports that the user has named, each once and in order.
    private var names: [String] { Set(controls.map(\.port.value)).sorted() }

    /// What a message means; several things perhaps, or none.
    ///
    /// - Parameter arrival: every message that has come, in order.
    /// - Returns: the presses.
    mutating func presses(_ arrival: ControlArrival) -> [Press] {
        let meant = controls.filter {
            ports[$0.port.value] == arrival.source && $0.message.matches(arrival.message)
        }
        guard !meant.isEmpty, detector.isPress(arrival) else { return [] }
        return meant.map { Press(verb: $0.verb, port: $0.port.value, command: $0.verb.command(at: arrival.time)) }
    }

    /// Notes what became of a press.
    ///
    /// - Returns: whether it is news, for the log and the status.
    mutating func note(_ press: Press, _ refusal: CommandError?) -> Bool {
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
