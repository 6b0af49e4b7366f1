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
    /// The buttons that bend outputs and are down.
    private var held: Set<Held> = []

    private struct Held: Hashable {
        /// The port, as the user wrote it.
        var port: String
        var message: Control.Message
        var verb: Control.Verb
        var output: String?

        init(_ control: Control) {
            (port, message) = (control.port.value, control.message)
            (verb, output) = (control.verb, control.output)
        }

        var holder: BendHolder { .button(port: port, message) }
    }

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
        guard !meant.isEmpty else { return tempos }
        let press = detector.press(arrival)
        return tempos + meant.compactMap { self.press(of: $0, arrival, press) }
    }

    /// What a control's message means.
    ///
    /// - Parameters:
    ///   - control: the control.
    ///   - arrival: its message.
    ///   - press: what the detector makes of that.
    /// - Returns: nil if it means nothing.
    private mutating func press(
        of control: Control, _ arrival: ControlArrival, _ press: PressDetector.Press?
    ) -> Press? {
        let isDown = control.verb.isHeld ? arrival.message.isDown : press == .down
        // What is held must also be let go by a short press, whose release looks like contact bounce.
        guard control.verb.isHeld || press != nil && (isDown || control.isLatching) else { return nil }
        note(control, isDown: isDown)
        let command = control.verb.command(
            at: arrival.time, output: control.output, tempo: control.tempo, bars: control.bars, isDown: isDown,
            by: Held(control).holder)
        return command.map { Press(verb: control.verb, port: control.port.value, command: .success($0)) }
    }

    /// The command that sets a tempo that controllers have sent, in BPM.
    private static func tempo(_ number: Int) -> Result<Command, CommandError> {
        guard CommandRange.tempo.contains(Double(number)) else {
            return .failure(
                .outOfRange("\(number) BPM is not allowed", possible: "a tempo is \(CommandRange.tempo.words)"))
        }
        return .success(.setTempo(Tempo(beatsPerMinute: Double(number))))
    }

    private mutating func note(_ control: Control, isDown: Bool) {
        guard control.verb.isHeld else { return }
        if isDown { held.insert(Held(control)) } else { held.remove(Held(control)) }
    }

    /// The bending buttons that have gone while they were down, with their outputs, nil for all; each is returned once.
    mutating func takeLost() -> [(output: String?, holder: BendHolder)] {
        let present = Set(controls.map(Held.init))
        let lost = held.filter { ports[$0.port] == nil || !present.contains($0) }
        held.subtract(lost)
        return lost.map { ($0.output, $0.holder) }
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
    /// How much faster or slower a machine runs while a button is held, in percent.
    private static let bend = 4.0
    /// For how long at most, in microseconds: a pedal tells only its release, which may get lost.
    private static let longestBend: Int64 = 10_000_000

    fileprivate enum Moved { case offset, tempo }

    /// What the press moves within limits, if anything.
    fileprivate var moves: Moved? {
        switch self {
        case .nudgeEarlier, .nudgeLater: .offset
        case .tap, .tempo, .tempoUp, .tempoDown, .halfTempo, .doubleTempo: .tempo
        case .play, .stop, .togglePlay, .countIn, .realign, .mute, .enter, .bendFaster, .bendSlower, .undo,
            .toggleLink, .linkOn, .linkOff:
            nil
        }
    }

    /// The command for the press.
    ///
    /// - Parameters:
    ///   - time: when the button was pressed.
    ///   - output: the name of the output that is meant; nil for all.
    ///   - tempo: the tempo to set, in thousandths of a BPM.
    ///   - bars: until machines enter, or to count in.
    ///   - isDown: whether it is down; matters for what is held.
    ///   - holder: which button; matters for what is held.
    /// - Returns: the command; nil for a tempo or bars that are not given.
    func command(
        at time: HostTime, output: String? = nil, tempo: Int64? = nil, bars: Int? = nil, isDown: Bool = true,
        by holder: BendHolder
    ) -> Command? {
        switch self {
        case .play: .setPlaying(true)
        case .stop: .setPlaying(false)
        case .togglePlay: .togglePlaying
        case .countIn: bars.map { .countIn(bars: $0) }
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
        case .enter: bars.map { .mute(output: output, .off(afterBars: $0)) }
        case .bendFaster: .bend(output: output, percent: isDown ? Self.bend : 0, for: Self.longestBend, by: holder)
        case .bendSlower: .bend(output: output, percent: isDown ? -Self.bend : 0, for: Self.longestBend, by: holder)
        case .undo: .undo
        case .toggleLink: .toggleLink
        case .linkOn: .enableLink(true)
        case .linkOff: .enableLink(false)
        }
    }
}
