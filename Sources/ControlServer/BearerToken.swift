/// A secret that a client shows in `Authorization: Bearer …`.
package struct BearerToken: Sendable {
    /// The secret itself, as it is sent.
    package let text: String

    /// Takes the contents of a token file; nil unless they are one word of printable ASCII.
    package init?(_ contents: String) {
        let words = contents.split(whereSeparator: \.isWhitespace)
        guard words.count == 1, words[0].utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        text = String(words[0])
    }

    /// Whether an `Authorization` header carries this token; takes as long whatever the token is.
    func matches(_ header: String) -> Bool {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
        let (secret, shown) = (Array(text.utf8), Array(parts[1].utf8))
        var difference = secret.count ^ shown.count
        for index in shown.indices { difference |= Int(shown[index] ^ secret[index % secret.count]) }
        return difference == 0
    }
}
