internal import Arbiter
internal import BeatTime
internal import GatewayStatus
internal import LinkNetwork
internal import Logging
internal import RealTime
internal import Synchronization

// The gateway thread's part with the arbiter: it is told what happened, and its decisions are carried out.
extension GatewayCore {
    /// Has the Link peer change its session, or what would be one.
    func edit(_ edit: SessionEdit, whenDone: (@Sendable () -> Void)? = nil) {
        arbiter.asked(for: edit, at: .now())
        peer.edit({ edit.apply(to: &$0, at: $1) }, whenDone: whenDone)
    }

    /// Takes news of the Link peer.
    func linkChanged(_ state: LinkState) {
        let before = picture.withLock { picture in
            defer { picture.link = state }
            return picture.link
        }
        conduct { $0.linkChanged(LinkView(state), at: $1) }
        log.noteChange(from: before, to: state)
    }

    /// Lets the arbiter decide, and tells everyone what it has decided.
    ///
    /// - Parameters:
    ///   - body: has the arbiter decide, and returns what it answers.
    ///   - whenDone: is told when the answer has had its effect.
    func conduct(_ body: (inout Arbiter, HostTime) -> SessionEdit?, whenDone: (@Sendable () -> Void)? = nil) {
        let before = (arbiter.mode, arbiter.transport, arbiter.line)
        let (asked, probe) = (arbiter.probing?.outputs, arbiter.probing?.probe)
        let answer = body(&arbiter, HostTime.now())
        if let answer { edit(answer, whenDone: whenDone) } else { whenDone?() }
        let (leadership, follow, warnings) = (arbiter.leadership, inputs.sources.choice, inputWarnings)
        picture.withLock { picture in
            (picture.leadership, picture.follow, picture.inputWarnings) = (leadership, follow, warnings)
        }
        keep(leadership.timeline.tempo)
        if before != (arbiter.mode, arbiter.transport, arbiter.line)
            || (asked, probe) != (arbiter.probing?.outputs, arbiter.probing?.probe)
        {
            publish()
        }
        // That Link was switched is told when the peer says so.
        if before.0 != arbiter.mode, [before.0, arbiter.mode].contains(.follow) {
            log.notice("leader changed", metadata: ["reason": "\(leadership.reason)"])
        }
    }
}
