internal import ALSASequencer
internal import BeatTime
internal import ConfigurationFiles
internal import MIDIClock

/// The buttons and pedals that give commands: subscribes to them, and reports presses.
struct ControlTable: Sendable {
    private var controls: [Control] = []
    private let hasSequencer: Bool
    /// Our port that receives them; nil if there is none.
    private var input: PortAddress?
    /// Why there is no such port.
    private var trouble: PortTrouble?
    private var detector = PressDetector()
    private var numbers = PairedNumbers()
    /// The ports found, by the names the user wrote.
    private var ports: [String: PortAddress] = [:]
    /// Why ports are absent, by the names the user wrote.
    private var away: [String: PortTrouble?] = [:]
    /// The last refused command, by the control's action.
    private var refusals: [Control.Verb: CommandError] = [:]

    /// A press of a button, and what it means.
    struct Press: Hashable {
        var verb: Control.Verb
        /// The port, as the user wrote it.
        var port: String
        /// The command, or why there is none.
        var command: Result<Command, CommandError>
    }

    /// A table without ports; ``update(_:own:_:)`` finds them.
    ///
    /// - Parameters:
    ///   - controls: what the user wants.
    ///   - hasSequencer: whether there is a sequencer to receive from.
    init(_ controls: [Control], hasSequencer: Bool) {
        self.hasSequencer = hasSequencer
        configure(controls)
    }

    /// The client number of our port.
    var client: Int? { input?.client }

    /// Whether a port to receive controls is needed and possible.
    var wantsInput: Bool { !controls.isEmpty && hasSequencer }

    /// Applies a new list of controls.
    mutating func configure(_ controls: [Control]) {
        self.controls = controls
        refusals = [:]
        detector = PressDetector()
        numbers = PairedNumbers()
        trouble = nil
        if !wantsInput { input = nil }
        if !controls.isEmpty, !hasSequencer { trouble = .sequencerNotOpened }
    }

    /// Notes the port that receives controls from now on.
    mutating func opened(_ port: PortAddress) { (input, trouble) = (port, nil) }

    /// Notes why the port could not be opened.
    mutating func notOpened(because error: ALSAError) { trouble = PortTrouble(opening: error) }

    /// Updates subscriptions to match the present ports.
    ///
    /// - Parameters:
    ///   - patchbay: the ports and subscriptions; receives the wanted ones.
    ///   - own: numbers of the gateway's own clients, which are no controls.
    ///   - effects: receives what must be done.
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
            case .ambiguous(let several): away[name] = PortTrouble(UnclearName(name, meaning: several, among: all))
            }
        }
        numbers.forget(except: Set(ports.values))
        let wanted = Set(ports.values.map { Patchbay.Subscription(from: $0, to: input) })
        patchbay.unsubscribe(except: wanted, where: { $0.receiver == input }, &effects)
        for (name, port) in ports {
            guard case .refused(let error) = patchbay.subscribe(.init(from: port, to: input), &effects) else {
                continue
            }
            ports[name] = nil
            away[name] = .some(PortTrouble(subscribing: error))
        }
    }

    /// The port names that the user wrote, each once and sorted.
    private var names: [String] { Set(controls.map(\.port.value)).sorted() }

    /// The presses that a message means; there may be several, or none.
    ///
    /// - Parameter arrival: every message received, in order.
    /// - Returns: the presses.
    mutating func presses(_ arrival: ControlArrival) -> [Press] {
        let heard = controls.filter {
            ports[$0.port.value] == arrival.source && $0.message.matches(arrival.message)
        }
        let meant = heard.filter { $0.message.low == nil }
        let tempos = heard.filter { $0.message.low != nil }.compactMap { control in
            numbers.number(arrival, of: control.message).map {
                Press(verb: control.verb, port: control.port.value, command: Self.tempo($0))
            }
        }
        guard !meant.isEmpty, let press = detector.press(arrival) else { return tempos }
        return tempos
            + meant.filter { $0.isLatching || press == .down }.compactMap { control in
                control.verb.command(at: arrival.time, output: control.output, tempo: control.tempo).map {
                    Press(verb: control.verb, port: control.port.value, command: .success($0))
                }
            }
    }

    /// The command that sets a tempo that controllers have sent, in BPM.
    private static func tempo(_ number: Int) -> Result<Command, CommandError> {
        guard CommandRange.tempo.contains(Double(number)) else {
            return .failure(
                .outOfRange("\(number) BPM is not allowed", possible: "a tempo is \(CommandRange.tempo.words)"))
        }
        return .success(.setTempo(Tempo(beatsPerMinute: Double(number))))
    }

    /// Notes the result of a press.
    ///
    /// - Returns: whether it differs from the last result, for the log and the status.
    mutating func note(_ press: Press, _ refusal: CommandError?) -> Bool {
        let before = refusals
        // After a nudge no nudge is at its limit any more; so it is with the tempo.
        if refusal == nil, let moved = press.verb.moves { refusals = refusals.filter { $0.key.moves != moved } }
        refusals[press.verb] = refusal
        return refusals != before
    }

    /// What the user should know.
    var notices: [Notice] {
        away.sorted { $0.key < $1.key }.map { .controlAway($0.key, $0.value) }
            + refusals.sorted { $0.key.rawValue < $1.key.rawValue }.map { .controlRefused($0.key.rawValue, $0.value) }
    }
}

extension Control.Verb {
    /// Change by one press of a nudge button, in milliseconds.
    private static let nudge = 1.0
    /// Change by one press of a tempo button, in BPM.
    private static let step = 1.0

    fileprivate enum Moved { case offset, tempo }

    /// What the press moves within limits, if anything.
    fileprivate var moves: Moved? {
        switch self {
        case .nudgeEarlier, .nudgeLater: .offset
        case .tap, .tempo, .tempoUp, .tempoDown, .halfTempo, .doubleTempo: .tempo
        case .play, .stop, .togglePlay, .realign, .mute, .undo, .toggleLink, .linkOn, .linkOff: nil
        }
    }

    /// The command for the press.
    ///
    /// - Parameters:
    ///   - time: when the button was pressed.
    ///   - output: the name of the output that is meant; nil for all.
    ///   - tempo: the tempo to set, in thousandths of a BPM.
    /// - Returns: the command; nil for a tempo that is not given.
    func command(at time: HostTime, output: String? = nil, tempo: Int64? = nil) -> Command? {
        switch self {
        case .play: .setPlaying(true)
        case .stop: .setPlaying(false)
        case .togglePlay: .togglePlaying
        case .tap: .tap(at: time)
        case .tempo: tempo.map { .setTempo(Tempo(beatsPerMinute: Double($0) / 1_000)) }
        case .tempoUp: .stepTempo(by: Self.step)
        case .tempoDown: .stepTempo(by: -Self.step)
        case .halfTempo: .scaleTempo(by: 0.5)
        case .doubleTempo: .scaleTempo(by: 2)
        case .nudgeEarlier: .adjust(output: output, OutputAdjustment(nudge: -Self.nudge))
        case .nudgeLater: .adjust(output: output, OutputAdjustment(nudge: Self.nudge))
        case .realign: .realign(output: output, .atBar)
        case .mute: .mute(output: output, .toggle)
        case .undo: .undo
        case .toggleLink: .toggleLink
        case .linkOn: .enableLink(true)
        case .linkOff: .enableLink(false)
        }
    }
}
