/// What the loop guard knows of a clock source.
package enum LoopVerdict: Hashable, Sendable, BitwiseCopyable {
    /// Too little was heard to decide; it must not be followed yet.
    case untested
    /// It is not our own clock; or hardly can be, as it is so uneven or has passed the test for echoes, while a test goes on.
    case clear
    /// It is in step with us and under test; only a source already followed may be followed meanwhile.
    case suspected
    /// We follow it and the tempo runs away, as between two gateways that follow each other.
    ///
    /// It must be let go, and the tempo held, until it is clear that it keeps its own tempo.
    case doubted
    /// It is our own clock, or may not be followed for another reason.
    case excluded(LoopReason)

    /// Whether following it may begin.
    package var mayBeFollowed: Bool { self == .clear }
    /// Whether following it must stop at once.
    package var mustBeLeft: Bool { self == .doubted || isExcluded }
    /// Whether it is never to be followed.
    package var isExcluded: Bool { if case .excluded = self { true } else { false } }
}

/// Why a source is never followed.
package enum LoopReason: Hashable, Sendable, BitwiseCopyable {
    /// It is one of our own ports, or receives only from one.
    case ownPort
    /// It is another Tactus gateway that hears this one and may follow it, so this one never follows that one.
    case gateway
    /// It repeats what only our outputs were sent.
    case echo
    /// It follows our outputs: another gateway, or anything that derives its clock from ours.
    case regenerated

    /// In a few words.
    package var explanation: String {
        switch self {
        case .ownPort: "it is this gateway's own port"
        case .gateway: "it is another Tactus that hears this one; disconnect one way if it is to lead"
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
    /// The source is another Tactus gateway that hears our outputs and may follow us.
    ///
    /// Two that followed each other would have no tempo of their own. Of the two only the one with the higher client
    /// number may follow the other.
    case gateway
    /// The source is one of our own ports.
    case ownPort

    /// The outputs to be probed, one bit a slot.
    var suspects: UInt64 {
        switch self {
        case .outputs(let slots), .program(let slots): slots
        case .unknown, .gateway, .ownPort: .max
        }
    }
    /// Whether a loop is likely.
    var isLikely: Bool { if case .program = self { true } else { false } }
    /// Why a source with this path is never followed; nil if that is to be found out.
    var reason: LoopReason? { self == .ownPort ? .ownPort : self == .gateway ? .gateway : nil }
}
