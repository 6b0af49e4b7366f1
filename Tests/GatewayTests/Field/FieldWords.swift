/// A mistake in a field case: where it is, and what would be right.
struct FieldMistake: Error, Hashable, CustomStringConvertible {
    var file: String
    /// From 1, as editors count.
    var line: Int
    var column: Int
    var text: String

    var description: String { "\(file):\(line):\(column): \(text)" }
}

/// The words of one line of a field case, read one after the other.
///
/// Words are separated by spaces; a comma and a colon are words of their own, and a text in quotes is one word. `#` begins
/// a comment. A word such as `$tempo` stands for the present value of that name.
struct FieldWords {
    let (file, line): (String, Int)
    private let words: [Word]
    private var next = 0
    private let end: Int

    private struct Word {
        var text: String
        var column: Int
        var isQuoted = false
    }

    init(_ text: String, file: String, line: Int, values: [String: String] = [:]) throws(FieldMistake) {
        (self.file, self.line) = (file, line)
        var words: [Word] = []
        var quote: Word?
        var isInWord = false
        var end = 1
        for (index, character) in text.enumerated() {
            let column = index + 1
            if quote != nil {
                if character == "\"" {
                    words.append(quote!)
                    quote = nil
                } else {
                    quote!.text.append(character)
                }
            } else if character == "#" {
                break
            } else if character == "\"" {
                (quote, isInWord) = (Word(text: "", column: column, isQuoted: true), false)
            } else if character.isWhitespace {
                isInWord = false
            } else if ",:".contains(character) {
                words.append(Word(text: String(character), column: column))
                isInWord = false
            } else if isInWord {
                words[words.count - 1].text.append(character)
            } else {
                words.append(Word(text: String(character), column: column))
                isInWord = true
            }
            if !character.isWhitespace { end = column + 1 }
        }
        if let quote {
            throw FieldMistake(file: file, line: line, column: quote.column, text: "this text needs a \" at its end")
        }
        for (index, word) in words.enumerated() where word.text.hasPrefix("$") && !word.isQuoted {
            guard let value = values[String(word.text.dropFirst())] else {
                let advice = "'for \(word.text.dropFirst()) in 90, 120' above would give it values"
                throw FieldMistake(
                    file: file, line: line, column: word.column, text: "\(word.text) has no value; \(advice)")
            }
            words[index].text = value
        }
        (self.words, self.end) = (words, end)
    }

    var isEmpty: Bool { words.isEmpty }

    /// Where the next word is, or would be.
    var column: Int { words.indices.contains(next) ? words[next].column : end }

    /// A mistake at the next word.
    func mistake(_ text: String) -> FieldMistake { FieldMistake(file: file, line: line, column: column, text: text) }

    /// Takes the next words if they are these.
    mutating func take(_ texts: String...) -> Bool {
        let isThere = words[next...].prefix(texts.count).map(\.text) == texts
        if isThere { next += texts.count }
        return isThere
    }

    mutating func require(_ text: String) throws(FieldMistake) {
        guard take(text) else { throw mistake("'\(text)' belongs here\(found)") }
    }

    /// The next word, whatever it is.
    mutating func word(_ wanted: String) throws(FieldMistake) -> String {
        guard words.indices.contains(next) else { throw mistake("\(wanted) is missing here") }
        next += 1
        return words[next - 1].text
    }

    /// A text in quotes.
    mutating func quoted(_ wanted: String) throws(FieldMistake) -> String {
        guard words.indices.contains(next), words[next].isQuoted else {
            throw mistake("\(wanted) belongs here, in double quotes\(found)")
        }
        return try word(wanted)
    }

    mutating func number(_ wanted: String, in range: ClosedRange<Double>) throws(FieldMistake) -> Double {
        guard words.indices.contains(next), let value = Double(words[next].text), range.contains(value) else {
            throw mistake("\(wanted) belongs here, a number from \(Self.plain(range))\(found)")
        }
        next += 1
        return value
    }

    mutating func integer(_ wanted: String, in range: ClosedRange<Int>) throws(FieldMistake) -> Int {
        guard words.indices.contains(next), let value = Int(words[next].text), range.contains(value) else {
            throw mistake(
                "\(wanted) belongs here, a whole number from \(range.lowerBound) to \(range.upperBound)\(found)")
        }
        next += 1
        return value
    }

    /// A time such as `2.5 s` or `3 ms`, in seconds.
    mutating func seconds(_ wanted: String) throws(FieldMistake) -> Double {
        let value = try number(wanted, in: 0...100_000)
        for (unit, length) in [("s", 1.0), ("ms", 1e-3), ("us", 1e-6)] where take(unit) { return value * length }
        throw mistake("a unit belongs here: s, ms or us, as in '2.5 s'\(found)")
    }

    /// A share such as `3 %`, from 0 to 1.
    mutating func share(_ wanted: String) throws(FieldMistake) -> Double {
        let value = try number(wanted, in: 0...100)
        try require("%")
        return value / 100
    }

    /// Fails if there are more words.
    func requireEnd() throws(FieldMistake) {
        guard next == words.count else { throw mistake("nothing more belongs on this line\(found)") }
    }

    var isAtEnd: Bool { next == words.count }

    private var found: String { words.indices.contains(next) ? ", not '\(words[next].text)'" : "" }

    private static func plain(_ range: ClosedRange<Double>) -> String {
        [range.lowerBound, range.upperBound].map { $0 == $0.rounded() ? "\(Int($0))" : "\($0)" }
            .joined(separator: " to ")
    }
}
