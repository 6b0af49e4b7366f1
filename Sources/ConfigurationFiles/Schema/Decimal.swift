/// Decimal numbers such as `-2.5`, as exact multiples of a fraction of their unit.
enum Decimal {
    enum Reading: Equatable {
        case parts(Int64)
        /// It has more decimals than allowed.
        case tooFine
        case tooLarge
        case withComma
        case noNumber
    }

    /// Reads digits with an optional sign and decimals; no exponent, no other base, no `nan`.
    ///
    /// - Parameters:
    ///   - text: as written.
    ///   - decimals: most decimals allowed; a part is 10 to the minus this power of the unit.
    /// - Returns: the parts, or why there are none.
    static func read(_ text: String, decimals: Int) -> Reading {
        var digits = Substring(text)
        let isNegative = digits.first == "-"
        if let sign = digits.first, "+-".contains(sign) { digits.removeFirst() }
        let halves = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = halves.count > 1 ? halves[1] : ""
        guard let whole = halves.first, !(whole.isEmpty && fraction.isEmpty), isDigits(whole), isDigits(fraction) else {
            let halves = digits.split(separator: ",", maxSplits: 1)
            return halves.count == 2 && halves.allSatisfy(isDigits) ? .withComma : .noNumber
        }
        guard fraction.dropFirst(decimals).allSatisfy({ $0 == "0" }) else { return .tooFine }
        let counted = String(fraction.prefix(decimals))
        let padding = String(repeating: "0", count: decimals - counted.count)
        guard let parts = Int64((isNegative ? "-" : "") + whole + counted + padding) else { return .tooLarge }
        return .parts(parts)
    }

    /// A number of parts as text, without unnecessary zeros.
    static func text(_ parts: Int64, decimals: Int) -> String {
        var digits = String(parts.magnitude)
        digits = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        var fraction = digits.suffix(decimals)
        while fraction.last == "0" { fraction.removeLast() }
        return (parts < 0 ? "-" : "") + digits.dropLast(decimals) + (fraction.isEmpty ? "" : "." + fraction)
    }

    private static func isDigits(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
