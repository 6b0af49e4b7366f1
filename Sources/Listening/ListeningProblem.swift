/// Why a calibration by listening does not go on, and what to do.
package struct ListeningProblem: Error, Codable, Hashable, Sendable {
    package enum Kind: String, Codable, Sendable {
        /// The gateway does not do it now.
        case refused
        /// No output is called so.
        case noSuchOutput = "no-such-output"
        /// Several outputs answer to the name.
        case ambiguousName = "ambiguous-name"
        /// What to listen to cannot be listened to, whatever the gateway does.
        case badValue = "bad-value"
        /// What was heard, or could not be heard, gives no result.
        case unavailable
        /// This user may not use the sound card.
        case noPermission = "no-permission"
        /// The machine refuses.
        case system
        /// Somebody ended it.
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
