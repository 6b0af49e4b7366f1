package import ALSASequencer

/// Why a sound card does not play.
package enum CardFailure: Error, Hashable, Sendable {
    case error(ALSAError)
    /// Another program has reserved it.
    case held(CardHolder)
}

/// Another program that has a sound card.
package struct CardHolder: Hashable, Sendable {
    /// What it calls itself, in at most 40 characters; nil if it does not say.
    package var program: String?
    package var manner: Manner

    package enum Manner: Hashable, Sendable {
        /// It does not let go of the card.
        case refuses
        /// It does not answer.
        case isSilent
        /// It has asked for the card, and got it.
        case hasAsked
    }

    package init(program: String?, manner: Manner) { (self.program, self.manner) = (program, manner) }
}
