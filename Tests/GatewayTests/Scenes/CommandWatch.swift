import BeatTime
import ClockDispatch
import GatewayStatus
import LinkNetwork
import LinkSession
import MIDIClock

@testable import Arbiter
@testable import Gateway

/// Checks that settings from commands are saved, and that no reply comes before the status shows the effect.
struct CommandWatch {
    /// The settings that must be saved; nil while no command has set them.
    private var link: Bool?
    private var startStopSync: Bool?
    private var follow: FollowChoice?
    private var quantum: Beats?
    private var configuredFollow = FollowChoice.auto
    private var configuredQuantum = Beats(4)
    /// The tempo that a command set, until something else sets one.
    private var tempo: (value: Tempo, token: ReplyToken)?
    /// The commands without a reply yet.
    private var waiting: [ReplyToken: Command] = [:]
    /// The commands that the Link peer has carried out.
    private var doneByLink: Set<ReplyToken> = []

    /// Records that a command is about to be given.
    mutating func given(_ command: Command, _ token: ReplyToken, _ gateway: VirtualGateway) {
        // The status may show the effect of this command before the reply to an older one of the same kind, so the
        // older one is not checked.
        waiting = waiting.filter { !Self.isSameKind($0.value, command) }
        waiting[token] = command
        (configuredFollow, configuredQuantum) = (
            gateway.engine.configuration.follow, gateway.engine.configuration.quantum
        )
        let arbiter = gateway.engine.arbiter
        if case .toggleLink = command { waiting[token] = .enableLink(!arbiter.wantsLink) }
        if case .togglePlaying = command { waiting[token] = .setPlaying(!arbiter.transport.isPlaying) }
    }

    private static func isSameKind(_ left: Command, _ right: Command) -> Bool {
        switch (left, right) {
        case (.enableLink, .enableLink), (.enableLink, .toggleLink): true
        // Switching Link also changes who decides about tempo and playing.
        case (.setTempo, .enableLink), (.setTempo, .toggleLink): true
        case (.setPlaying, .enableLink), (.setPlaying, .toggleLink): true
        case (.setTempo, .setTempo), (.setPlaying, .setPlaying), (.setPlaying, .togglePlaying): true
        case (.setQuantum, .setQuantum), (.follow, .follow), (_, .configure), (.adjust, .adjust): true
        case (.enableStartStopSync, .enableStartStopSync): true
        case (_, .undo), (.setTempo, .stepTempo), (.setTempo, .scaleTempo): true
        default: false
        }
    }

    /// Records that a button or pedal is about to be pressed, which may overrule or undo any command.
    mutating func pressed() {
        forget()
        waiting = [:]
    }

    private mutating func forget() {
        (link, startStopSync, follow, quantum, tempo) = (nil, nil, nil, nil, nil)
    }

    /// Records that the engine has accepted or refused a command.
    mutating func taken(_ command: Command, _ token: ReplyToken, isRefused: Bool) {
        guard !isRefused else { return }
        switch command {
        case .setTempo(let new): tempo = (new, token)
        case .enableLink(let isOn): link = isOn
        case .toggleLink: link = nil
        case .stepTempo, .scaleTempo: tempo = nil
        case .undo: forget()
        case .enableStartStopSync(let isOn): startStopSync = isOn
        case .follow(let choice): follow = choice
        case .setQuantum(let beats): quantum = beats
        case .configure(let new):
            if new.follow != configuredFollow { follow = nil }
            if new.quantum != configuredQuantum { quantum = nil }
        default: break
        }
    }

    /// Records that the Link peer has carried out what a command asked of it.
    mutating func linkHasDone(_ token: ReplyToken) { doneByLink.insert(token) }

    /// Records the tempo that the Link peer has now.
    ///
    /// If it differs from that of a command which the peer has carried out, the session or a leader has changed it, or
    /// it is from before a switch. The gateway saves it, even if the peer has the command's tempo again by then.
    mutating func linkHasTempo(_ new: Tempo) {
        if let (value, token) = tempo, doneByLink.contains(token), !new.isSame(as: value) { tempo = nil }
    }

    /// A setting that is not saved as it was set; nil if all are.
    mutating func fault(ofKept kept: KeptState, _ gateway: VirtualGateway) -> String? {
        linkHasTempo(gateway.link.sessionState.tempo)
        if gateway.engine.arbiter.following != nil { tempo = nil }
        // It is saved in thousandths of a BPM, of what the session has rounded to microseconds per beat.
        if let (value, _) = tempo, abs((kept.tempo ?? 0) - value.beatsPerMinute) > 0.001_5,
            kept.tempo.map({ Tempo(beatsPerMinute: $0).isSame(as: value) }) != true
        {
            return "the tempo is not kept"
        }
        if let link, kept.link != link { return "the Link switch is not kept" }
        if let startStopSync, kept.startStopSync != startStopSync { return "start/stop sync is not kept" }
        if let follow, (kept.follow?.value ?? configuredFollow.text) != follow.text {
            return "whose clock to follow is not kept"
        }
        if let quantum, (kept.quantum?.value ?? configuredQuantum.value) != quantum.value {
            return "the quantum is not kept"
        }
        return nil
    }

    /// What is wrong with a reply that is being sent; nil if the status already shows its effect.
    mutating func fault(ofReplyTo token: ReplyToken, _ gateway: VirtualGateway) -> String? {
        guard let command = waiting.removeValue(forKey: token) else { return nil }
        let (status, peer) = (gateway.status, gateway.link.sessionState)
        let isFollowing = gateway.engine.arbiter.following != nil
        let isShown =
            switch command {
            case .enableLink(let isOn): status.link.isEnabled == isOn
            case .enableStartStopSync(let isOn): status.link.isStartStopSyncEnabled == isOn
            case .setQuantum(let quantum): status.leadership.quantum == quantum
            case .follow(let choice): status.follow == choice
            case .configure(let new): status.configuration == new
            case .adjust(let name, let change): Self.shows(change, of: name, status)
            // What the Link peer has done, only the session or a leader can have undone since.
            case .setTempo(let tempo):
                isFollowing
                    || doneByLink.contains(token)
                        && (!peer.tempo.isSame(as: tempo) || status.leadership.timeline.tempo.isSame(as: tempo))
            case .setPlaying(let isPlaying):
                isFollowing
                    || doneByLink.contains(token)
                        && (peer.isPlaying != isPlaying || status.leadership.transport.isPlaying == isPlaying)
            case .toggleLink, .togglePlaying, .countIn, .tap, .stepTempo, .scaleTempo, .realign, .mute, .bend,
                .undo:
                true
            }
        return isShown ? nil : "the reply to \(command) comes before the status shows it"
    }

    private static func shows(_ change: OutputAdjustment, of name: String?, _ status: StatusPicture) -> Bool {
        func isShown(_ output: Output) -> Bool {
            change.offset.map { output.offset == microseconds($0) } != false
                && change.isEnabled.map { output.isEnabled == $0 } != false
        }
        let here = status.outputs.filter { $0.presence == .here }
        guard let name else { return here.allSatisfy(isShown) }
        return here.contains { $0.name.hasPrefix(name) && isShown($0) }
    }
}

extension Tempo {
    /// Whether two tempos are equal to a peer, which counts whole microseconds per beat.
    fileprivate func isSame(as other: Tempo) -> Bool { abs(microsecondsPerBeat - other.microsecondsPerBeat) <= 1 }
}
