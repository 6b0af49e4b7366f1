internal import Essentials

/// How far several outputs can be nudged together before one of them leaves its range.
struct NudgeRoom {
    /// Names of outputs, and their offsets in milliseconds.
    private let outputs: [(name: String, offset: Double)]

    init(_ outputs: [(name: String, offset: Double)]) { self.outputs = outputs }

    /// Checks a nudge.
    ///
    /// - Parameter nudge: milliseconds.
    /// - Returns: which outputs would leave their range, and what is possible instead; nil if none would.
    func refusal(of nudge: Double) -> CommandError? {
        let limits = CommandRange.offset.limits
        let blocking = outputs.filter { !limits.contains(wholeMicroseconds($0.offset + nudge)) }
        guard !blocking.isEmpty, let least = outputs.map(\.offset).min(), let most = outputs.map(\.offset).max() else {
            return nil
        }
        let names = blocking.prefix(Self.mostNamed).map { "\($0.name) is at \(text($0.offset))" }
        let others = blocking.count > names.count ? " and \(blocking.count - names.count) more" : ""
        return .outOfRange(
            "nothing was moved: an offset is \(CommandRange.offset.words), and "
                + names.joined(separator: ", ") + others,
            possible: "a nudge can be \(text(limits.lowerBound - least)) to \(text(limits.upperBound - most)) ms now")
    }

    private static let mostNamed = 8

    private func text(_ milliseconds: Double) -> String {
        shortest(wholeMicroseconds(milliseconds), atMost: 3)
    }
}

/// Rounds milliseconds to whole microseconds, as offsets are stored, so that small nudges add up exactly.
func wholeMicroseconds(_ milliseconds: Double) -> Double { (milliseconds * 1_000).rounded() / 1_000 }
