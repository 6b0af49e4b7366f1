internal import Essentials
internal import MIDIClock

/// How far several outputs can be nudged together before one of them leaves its range.
struct NudgeRoom {
    /// Names of outputs, and their offsets in microseconds.
    private let outputs: [(name: String, offset: Int64)]

    init(_ outputs: [(name: String, offset: Int64)]) { self.outputs = outputs }

    /// Checks a nudge.
    ///
    /// - Parameter nudge: milliseconds.
    /// - Returns: which outputs would leave their range, and what is possible instead; nil if none would.
    func refusal(of nudge: Double) -> CommandError? {
        let limits = OutputSettings.offsets
        let blocking = outputs.filter { !limits.contains($0.offset + microseconds(nudge)) }
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

    /// In milliseconds.
    private func text(_ microseconds: Int64) -> String { shortest(Double(microseconds) / 1_000, atMost: 3) }
}
