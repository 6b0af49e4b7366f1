/// Why an edit of the session was not made; nothing of it was.
///
/// ```swift
/// assert("\(EditRefusal.outOfReach)".contains("9 years"))
/// ```
public enum EditRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// A beat or a time of the edit is too far away.
    case outOfReach
    /// The newer of two timelines is known by its larger beat, and somebody has announced the largest one there is.
    case nothingCanWin

    /// What is wrong, and what helps.
    public var description: String {
        switch self {
        case .outOfReach: "a beat or time is more than 9 years away"
        case .nothingCanWin:
            "a Link peer has announced the last beat there is, after which no peer can change tempo or beat; end all Link "
                + "programs of the session at once, or switch Link off here to play alone"
        }
    }
}
