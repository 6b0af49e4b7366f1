import Arbiter
import BeatTime
import ClockDispatch
import GatewayStatus
import LinkNetwork

@testable import Gateway

/// Sees that what commands set is kept, and that a reply comes no earlier than the status shows its effect.
struct CommandWatch {
    /// What is to be kept; nil while nothing was set.
    private var link: Bool?
    private var startStopSync: Bool?
    private var follow: FollowChoice?
    private var quantum: Beats?
    private var configuredFollow = FollowChoice.auto
    private var configuredQuantum = Beats(4)
    /// The commands that wait for their replies.
    private var waiting: [ReplyToken: Command] = [:]

    /// Notes that a command is given.
    mutating func given(_ command: Command, _ token: ReplyToken, _ gateway: VirtualGateway) {
        // Who waits for the effect of an older command of the same kind may see that of the newer one.
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

    /// Notes that the engine has taken a command, or refused it.
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

    /// What is kept otherwise than it was set; nil if nothing is.
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

    /// What the status does not show though a reply promises it; nil if it shows all.
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
