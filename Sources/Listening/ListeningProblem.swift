/// Why a calibration by listening failed, and what to do.
package struct ListeningProblem: Error, Codable, Hashable, Sendable {
    package enum Kind: String, Codable, Sendable {
        /// The gateway cannot do this in its present state.
        case refused
        /// No output has this name.
        case noSuchOutput = "no-such-output"
        /// The name fits several outputs.
        case ambiguousName = "ambiguous-name"
        /// The request is wrong in itself, whatever the gateway's state is.
        case badValue = "bad-value"
        /// The sound card delivers no sound, or the sound allows no result.
        case unavailable
        /// The gateway's user may not use the sound card.
        case noPermission = "no-permission"
        /// The operating system refused something, such as a thread, the sequencer or a file.
        case system
        /// Somebody ended the calibration, or nobody watched it any more.
        case cancelled
    }

    package var kind: Kind
    /// One line for people.
    package var message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }
}
