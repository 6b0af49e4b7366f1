package import LinkSession

/// Why a command was not carried out.
package enum CommandError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Another clock leads; holds the leader's name.
    case notLeader(String)
    /// Another clock plays and stops; holds the leader's name.
    case notTransportLeader(String)
    /// A name matches nothing, or several things.
    case unclearName(UnclearName)
    /// A value would leave its range, or an output has no such setting; says which, and what is possible.
    case outOfRange(String, possible: String)
    /// The device of the named output is not connected, so it cannot be realigned; nil if no device is connected.
    case notConnected(String?)
    /// The song or the named output is stopped, so nothing can be realigned.
    case notPlaying(String?)
    /// The device of the named output cannot be placed in a song.
    case notPlaceable(String)
    /// The device of the named output cannot be stopped in a song.
    case notMutable(String)
    /// No change is known that could be taken back.
    case nothingToUndo
    /// What the last change set has been changed by others since; says what.
    case changedSince(String)
    /// Configuration or profiles are wrong; every mistake with its position.
    case badConfiguration([String])
    /// The session cannot be changed so.
    case refusedEdit(EditRefusal)
    /// Too many commands are waiting.
    case busy

    /// What is wrong, and how to fix it if known; one line for each mistake.
    package var description: String { problem + (advice.map { "; \($0)" } ?? "") }

    /// How to fix it, unless ``problem`` already says so.
    var advice: String? {
        switch self {
        case .notLeader: "use 'tactus link on' or 'tactus follow off' first"
        case .notTransportLeader: "'tactus follow auto' gives play and stop to you; the tempo stays with it"
        case .outOfRange(_, let possible): possible
        case .busy: "try again"
        case .notPlaying(nil): "'tactus play' starts the song"
        case .notMutable: "switch it off instead, which ends its clock"
        case .unclearName, .notConnected, .notPlaying, .notPlaceable, .nothingToUndo, .changedSince, .badConfiguration,
            .refusedEdit:
            nil
        }
    }

    /// What is wrong, one line for each mistake.
    var problem: String {
        switch self {
        case .notLeader(let leader): "\(leader) leads, so you cannot change that here"
        case .notTransportLeader(let leader): "\(leader) plays and stops here, as it has sent Start or Stop"
        case .unclearName(let error): error.description
        case .outOfRange(let problem, _): problem
        case .notConnected(let output): output.map { "\($0) is not connected" } ?? "nothing is connected"
        case .notPlaying(let output):
            output.map { "\($0) does not play: it is switched off or muted, or it leads" } ?? "nothing is playing"
        case .notPlaceable(let output):
            "\(output) cannot be realigned: its profile allows neither Start nor Song Position"
        case .notMutable(let output): "\(output) cannot be muted, because it cannot be sent Stop"
        case .nothingToUndo: "there is nothing to undo"
        case .changedSince(let change): "nothing was undone: \(change)"
        case .badConfiguration(let mistakes): mistakes.joined(separator: "\n")
        case .refusedEdit(let refusal): "the session was not changed: \(refusal)"
        case .busy: "too many commands are waiting"
        }
    }
}
