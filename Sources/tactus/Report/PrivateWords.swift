/// Words that a report must not contain, such as the names of the user and of this computer.
struct PrivateWords: Hashable {
    private let words: Set<String>

    /// Shortest word that is left out, in bytes; names of one or two Latin letters are part of too much else.
    private static let shortest = 3
    /// Longest text that is shown of what a device or a firmware says.
    private static let longest = 80

    /// - Parameter names: each may consist of several words.
    init(_ names: [String]) {
        words = Set(names.flatMap { Self.parts($0).filter(\.isWord).map { $0.text.lowercased() } })
            .filter { $0.utf8.count >= Self.shortest }
    }

    /// A text with `…` instead of each private word, without control characters and backquotes.
    func left(outOf text: String) -> String {
        let clean = String(text.withoutControls.prefix(Self.longest)).replacing("`", with: "'")
        return Self.parts(clean).map { words.contains($0.text.lowercased()) ? "…" : $0.text }.joined()
    }

    private struct Part {
        var text: String
        var isWord: Bool
    }

    /// A text's words, and what is between them.
    private static func parts(_ text: String) -> [Part] {
        var parts: [Part] = []
        for character in text {
            let isWord = character.isLetter || character.isNumber
            if let last = parts.indices.last, parts[last].isWord == isWord {
                parts[last].text.append(character)
            } else {
                parts.append(Part(text: String(character), isWord: isWord))
            }
        }
        return parts
    }
}
