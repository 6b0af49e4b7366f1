/// A secret that clients send in `Authorization: Bearer …`.
package struct BearerToken: Sendable {
    /// The secret, as sent.
    package let text: String

    /// Reads the contents of a token file; nil unless it is one word of printable ASCII.
    ///
    /// Some editors put a byte order mark before it.
    package init?(_ contents: String) {
        let words = contents.unicodeScalars.split { $0.properties.isWhitespace || $0 == "\u{FEFF}" }
        guard words.count == 1, words[0].allSatisfy({ ("!"..."~").contains($0) }) else { return nil }
        text = String(words[0])
    }

    /// Whether an `Authorization` header has this token; takes the same time for any header.
    func matches(_ header: String) -> Bool {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
        let (secret, shown) = (Array(text.utf8), Array(parts[1].utf8))
        var difference = secret.count ^ shown.count
        for index in shown.indices { difference |= Int(shown[index] ^ secret[index % secret.count]) }
        return difference == 0
    }
}
