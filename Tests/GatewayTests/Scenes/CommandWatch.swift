import Arbiter
import BeatTime
import ClockDispatch
import GatewayStatus
import LinkNetwork

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
    /// The commands without a reply yet.
    private var waiting: [ReplyToken: Command] = [:]

    /// Records that a command is about to be given.
    mutating func given(_ command: Command, _ token: ReplyToken, _ gateway: VirtualGateway) {
        // The status may show the effect of this command before the reply to an older one of the same kind, so the
        // older one is not checked.
        waiting = waiting.filter { !Self.isSameKind($0.value, command) }
        waiting[token] = command
        (configuredFollow, configuredQuantum) = (
            gateway.engine.configuration.follow, gateway.engine.configuration.quantum
        )
        if case .toggleLink = command { waiting[token] = .enableLink(!gateway.engine.arbiter.wantsLink) }
    }

    private static func isSameKind(_ left: Command, _ right: Command) -> Bool {
        switch (left, right) {
        case (.enableLink, .enableLink), (.enableLink, .toggleLink): true
        case (.setQuantum, .setQuantum), (.follow, .follow), (_, .configure), (.adjust, .adjust): true
        case (.enableStartStopSync, .enableStartStopSync): true
        default: false
        }
    }

    /// Records that the engine has accepted or refused a command.
    mutating func taken(_ command: Command, isRefused: Bool) {
        guard !isRefused else { return }
        switch command {
        case .enableLink(let isOn): link = isOn
        case .toggleLink: link = nil
        case .enableStartStopSync(let isOn): startStopSync = isOn
        case .follow(let choice): follow = choice
        case .setQuantum(let beats): quantum = beats
        case .configure(let new):
            if new.follow != configuredFollow { follow = nil }
            if new.quantum != configuredQuantum { quantum = nil }
        default: break
        }
    }

    /// A setting that is not saved as it was set; nil if all are.
    func fault(ofKept kept: KeptState) -> String? {
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
        let status = gateway.status
        let isShown =
            switch command {
            case .enableLink(let isOn): status.link.isEnabled == isOn
            case .enableStartStopSync(let isOn): status.link.isStartStopSyncEnabled == isOn
            case .setQuantum(let quantum): status.leadership.quantum == quantum
            case .follow(let choice): status.follow == choice
            case .configure(let new): status.configuration == new
            case .adjust(let name?, let change):
                change.offset.map { offset in status.outputs.contains { $0.name == name && $0.offset == offset } }
                    ?? true
            default: true
            }
        return isShown ? nil : "the reply to \(command) comes before the status shows it"
    }
}
