/// Why a calibration by listening does not go on, and what to do.
package struct ListeningProblem: Error, Codable, Hashable, Sendable {
    package enum Kind: String, Codable, Sendable {
        /// The gateway does not do it now.
        case refused
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
