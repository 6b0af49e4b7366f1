package import BeatTime

/// What the loop guard knows of a clock source.
package enum LoopVerdict: Hashable, Sendable, BitwiseCopyable {
    /// Too little was heard to decide; it must not be followed yet.
    case untested
    /// It is not our own clock.
    case clear
    /// It is in step with us and under test; only a source already followed may be followed meanwhile.
    case suspected(since: HostTime)
    /// We follow it and the tempo runs away, as between two gateways that follow each other.
    ///
    /// It must be let go, and the tempo held, until it is clear that it keeps its own tempo.
    case doubted(since: HostTime)
    /// It is our own clock: never to be followed.
    case fenced(LoopReason)

    /// Whether following it may begin.
    package var mayBeFollowed: Bool { self == .clear }

    /// Whether following it must stop at once.
    package var mustBeLeft: Bool {
        switch self {
        case .doubted, .fenced: true
        case .untested, .clear, .suspected: false
        }
    }

    /// Whether it is known to be our own clock.
    package var isFenced: Bool {
        if case .fenced = self { true } else { false }
    }
}

/// Why a source is known to be our own clock.
package enum LoopReason: Hashable, Sendable, BitwiseCopyable {
    /// It is one of our own ports, or receives only from one.
    case ownPort
    /// It repeats what only our outputs were sent.
    case echo
    /// It follows our outputs: another gateway, or anything that derives its clock from ours.
    case regenerated

    /// In a few words.
    package var explanation: String {
        switch self {
        case .ownPort: "it is this gateway's own port"
        case .echo: "it sends this gateway's own clock back"
        case .regenerated: "its clock is made from this gateway's"
        }
    }
}

/// How our clock may reach a source, by the subscriptions.
package enum LoopPath: Hashable, Sendable, BitwiseCopyable {
    /// Nothing is known; cables outside may lead anywhere.
    case unknown
    /// These outputs, one bit a slot, lead to the sound card that the source belongs to.
    ///
    /// What is connected to one port of the card need not know what is connected to another.
    case outputs(UInt64)
    /// These outputs lead to the program that the source belongs to, which may well pass on what it hears.
    case program(UInt64)
    /// The source is another Tactus gateway that hears these outputs, one bit a slot.
    ///
    /// If each followed the other, both would probe at the same time. So one of them goes first; both know which.
    case gateway(UInt64, isFirst: Bool)
    /// The source is one of our own ports.
    case ownPort

    /// The outputs that lead to it, one bit a slot; none if unknown.
    private var slots: UInt64 {
        switch self {
        case .outputs(let slots), .program(let slots), .gateway(let slots, _): slots
        case .unknown, .ownPort: 0
        }
    }

    /// The outputs to be probed, one bit a slot.
    var suspects: UInt64 { slots != 0 ? slots : .max }

    /// Whether a loop is likely.
    var isLikely: Bool {
        switch self {
        case .program, .gateway: slots != 0
        case .unknown, .outputs, .ownPort: false
        }
    }

    /// Whether it is a gateway that probes while we answer.
    var asksUs: Bool { if case .gateway(_, false) = self { true } else { false } }

    /// Whether it is a gateway that answers while we probe.
    var answersUs: Bool { if case .gateway(_, true) = self { true } else { false } }
}
