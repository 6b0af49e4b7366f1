internal import Glibc

/// A number with a fixed number of decimals, such as `128.50`.
///
/// Rounded like printf. The decimal point is a point everywhere, since the program never calls `setlocale`.
package func fixed(_ value: Double, _ decimals: Int, isSigned: Bool = false) -> String {
    withVaList([Int32(clamping: decimals), value]) { arguments in
        // The longest double has 309 digits before the point.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
            guard let text = buffer.baseAddress else { return "" }
            vsnprintf(text, buffer.count, isSigned ? "%+.*f" : "%.*f", arguments)
            return String(cString: text)
        }
    }
}

/// A number with as few decimals as it needs, up to a limit.
package func shortest(_ value: Double, atMost decimals: Int) -> String {
    let text = fixed(value, decimals)
    guard text.contains(".") else { return text }
    return String(text.reversed().drop { $0 == "0" }.drop { $0 == "." }.reversed())
}

/// A whole number with leading zeros, such as `07`; for numbers of 0 and above.
package func digits(_ number: some BinaryInteger, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
}

/// Microseconds as people say them, in us, ms or s: `31.0 us`, `1.23 ms`, `141.2 ms`.
package func spokenDuration(_ microseconds: Double) -> String {
    switch abs(microseconds) {
    case ..<99.95: "\(fixed(microseconds, 1)) us"
    case ..<999.5: "\(fixed(microseconds, 0)) us"
    case ..<99_995: "\(fixed(microseconds / 1_000, 2)) ms"
    case ..<999_950: "\(fixed(microseconds / 1_000, 1)) ms"
    default: "\(fixed(microseconds / 1_000_000, 2)) s"
    }
}
