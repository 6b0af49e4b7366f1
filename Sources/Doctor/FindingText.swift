/// A text about this machine that knows which of its parts are names, so that it can also be shown without them.
///
/// Literals and numbers are shown in any case. Other values that are put in count as names, such as those of users, paths
/// and addresses, unless they are marked as ``known``:
///
///     let text: FindingText = "\(user) is in \(known: group) with \(count) others"
package struct FindingText: Hashable, Sendable {
    /// The text as it is meant for the user of this machine.
    package private(set) var whole = ""
    /// The text with ``placeholder`` instead of each name.
    package private(set) var withoutNames = ""

    /// Stands for a name that is left out.
    package static let placeholder = "…"

    static func + (left: FindingText, right: FindingText) -> FindingText {
        var sum = left
        sum.whole += right.whole
        sum.withoutNames += right.withoutNames
        return sum
    }
}

extension FindingText: ExpressibleByStringInterpolation {
    package init(stringLiteral text: String) { (whole, withoutNames) = (text, text) }

    package init(stringInterpolation parts: StringInterpolation) { self = parts.text }

    /// Collects the parts of a text.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = FindingText()

        package init(literalCapacity: Int, interpolationCount: Int) {}

        package mutating func appendLiteral(_ literal: String) { append(literal, literal) }

        /// Adds a name.
        package mutating func appendInterpolation(_ name: some StringProtocol) {
            append(String(name), name.isEmpty ? "" : placeholder)
        }

        /// Adds a text that names nobody and no place, such as one of the kernel's words.
        package mutating func appendInterpolation(known text: String) { append(text, text) }

        package mutating func appendInterpolation(_ number: some BinaryInteger) { append("\(number)", "\(number)") }

        package mutating func appendInterpolation(_ number: Double) { append("\(number)", "\(number)") }

        package mutating func appendInterpolation(_ part: FindingText) { append(part.whole, part.withoutNames) }

        private mutating func append(_ whole: String, _ withoutNames: String) {
            text.whole += whole
            text.withoutNames += withoutNames
        }
    }
}

extension [FindingText] {
    /// All texts, with a separator between each two.
    func joined(separator: FindingText) -> FindingText {
        guard let first else { return "" }
        return dropFirst().reduce(first) { $0 + separator + $1 }
    }
}
