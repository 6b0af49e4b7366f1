/// The emphasis of a piece of text; never the only carrier of its meaning.
enum Tone: String, Hashable, Sendable {
    case plain = ""
    case faint = "2"
    case strong = "1"
    case good = "32"
    case caution = "33"
    case bad = "31"
}

/// One line of a terminal's screen, in parts of different tones.
struct Line: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// Text of one tone.
    struct Part: Hashable, Sendable {
        var text: String
        var tone: Tone
    }

    private(set) var parts: [Part]

    init(_ text: String, _ tone: Tone = .plain) { parts = [Part(text: text.withoutControls, tone: tone)] }

    init(stringLiteral text: String) { self.init(text) }

    static func + (left: Line, right: Line) -> Line {
        var both = left
        both.parts += right.parts
        return both
    }

    /// The text without tones.
    var text: String { parts.map(\.text).joined() }

    /// Its number of characters.
    var count: Int { parts.reduce(0) { $0 + $1.text.count } }

    /// This line, padded with spaces to `width` characters.
    func padded(to width: Int) -> Line { self + Line(String(repeating: " ", count: max(0, width - count))) }

    /// The part of it that fits into `width` characters.
    func clipped(to width: Int) -> Line {
        var clipped = self
        var room = max(0, width)
        clipped.parts = parts.map { part in
            let text = String(part.text.prefix(room))
            room -= text.count
            return Part(text: text, tone: part.tone)
        }
        return clipped
    }

    /// The line with escape sequences for a terminal.
    func rendered(inColour: Bool) -> String {
        guard inColour else { return text }
        return parts.map { part in
            part.tone == .plain || part.text.isEmpty ? part.text : "\u{1B}[\(part.tone.rawValue)m\(part.text)\u{1B}[0m"
        }.joined()
    }
}
