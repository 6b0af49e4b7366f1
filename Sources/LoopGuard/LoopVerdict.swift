package import BeatTime

/// What the loop guard thinks of a clock source.
package enum LoopVerdict: Hashable, Sendable, BitwiseCopyable {
    /// Too little has been heard to say anything; it must not be followed yet.
    case untested
    /// It is not our own clock.
    case clear
    /// It is in step with us and is being tested: not to be followed before it is clear, unless it is followed already.
    case suspected(since: HostTime)
    /// We follow it and the tempo runs away, as it does when two gateways follow each other: to be let go, with the
    /// tempo held, until it is clear that it goes on without us.
    case doubted(since: HostTime)
    /// It is our own clock: never to be followed.
    case fenced(LoopReason)

    /// Whether the source may begin to be followed.
    package var mayBeFollowed: Bool { self == .clear }

    /// Whether the source must not be followed a moment longer.
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
    /// It is one of our own ports, or fed by one alone.
    case ownPort
    /// It repeats what only our outputs were told.
    case echo
    /// It follows our outputs: another gateway, or anything that makes its own clock after ours.
    case regenerated

    /// In a few words.
    package var explanation: String {
        switch self {
        case .ownPort: "it is this gateway's own port"
        case .echo: "it sends this gateway's own clock back"
        case .regenerated: "it makes its clock after this gateway's"
        }
    }
}

/// How our clock may come to a source, as the subscriptions say.
package enum LoopPath: Hashable, Sendable, BitwiseCopyable {
    /// Nothing is known; cables outside may lead anywhere.
    case unknown
    /// These outputs, one bit a slot, lead to ports of the sound card that the source is a port of: what is behind one
    /// need not know what is behind another.
    case outputs(UInt64)
    /// These outputs lead to the program that the source is a port of: it may well send what it hears.
    case program(UInt64)
    /// The source is another gateway of this kind that hears these outputs: one bit a slot. If each followed the other
    /// both would ask the same at once, so one of them, the same for both, goes first.
    case gateway(UInt64, isFirst: Bool)
    /// The source is one of our own ports.
    case ownPort

    /// The outputs that lead to it, one bit a slot; none where that is not known.
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

    /// Whether it is a gateway that asks while we answer.
    var asksUs: Bool { if case .gateway(_, false) = self { true } else { false } }

    /// Whether it is a gateway that answers while we ask.
    var answersUs: Bool { if case .gateway(_, true) = self { true } else { false } }
}
