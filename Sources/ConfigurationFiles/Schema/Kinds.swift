internal import Essentials
internal import MIDIClock

extension Kind<Bool> {
    /// `true` or `false`, in no other spelling.
    static var boolean: Self {
        Kind(wanted: "true or false") { text, isQuoted throws(Complaint) in
            switch text {
            case "true" where !isQuoted: return true
            case "false" where !isQuoted: return false
            case "true", "false": throw Complaint(advice: "leave the quotes out")
            default: throw Complaint()
            }
        }
    }
}

extension Kind where Value: Sendable {
    /// One of several words.
    static func choice(_ words: KeyValuePairs<String, Value>) -> Self {
        let choices = words.map { (word: $0.key, value: $0.value) }
        let names = choices.map(\.word)
        return Kind(wanted: names.oneOfThem) { text, _ throws(Complaint) in
            if let choice = choices.first(where: { $0.word == text }) { return choice.value }
            throw Complaint(advice: NearestWord.to(text, among: names).map { "did you mean '\($0)'?" })
        }
    }
}

extension Kind where Value: CaseIterable & RawRepresentable<String> & Sendable {
    /// One of an enumeration's words.
    static var word: Self {
        let names = Value.allCases.map(\.rawValue)
        return Kind(wanted: names.oneOfThem) { text, _ throws(Complaint) in
            if let value = Value(rawValue: text) { return value }
            throw Complaint(advice: NearestWord.to(text, among: names).map { "did you mean '\($0)'?" })
        }
    }
}

extension Kind<String> {
    /// One line of text, without spaces around it.
    ///
    /// - Parameters:
    ///   - longest: most characters.
    ///   - example: of such a text.
    /// - Returns: a kind that refuses longer texts, blank texts and control characters.
    static func text(longest: Int = 127, example: String) -> Self {
        Kind(wanted: "text such as \(example)") { text, _ throws(Complaint) in
            let trimmed = text.trimmed
            guard !trimmed.isEmpty else { throw Complaint(finding: "is blank") }
            guard trimmed.unicodeScalars.count <= longest else {
                throw Complaint(finding: "is too long", advice: "it takes at most \(longest) characters")
            }
            guard !trimmed.unicodeScalars.contains(where: \.isControl) else {
                throw Complaint(finding: "has several lines or control characters", advice: "it takes one line")
            }
            return trimmed
        }
    }
}

extension Kind where Value: FixedWidthInteger & Sendable {
    /// A whole number.
    static func whole(_ range: ClosedRange<Value>) -> Self {
        let wanted = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return Kind(wanted: wanted) { text, isQuoted throws(Complaint) in
            try Self.number(text, isQuoted, decimals: 0, in: range)
        }
    }

    /// A decimal number, as whole parts of its unit.
    ///
    /// - Parameters:
    ///   - range: in those parts.
    ///   - decimals: parts per unit, as a power of ten.
    ///   - unit: name of the unit, for error messages before `from`.
    /// - Returns: an exact kind that refuses more decimals.
    static func decimal(_ range: ClosedRange<Value>, decimals: Int, of unit: String) -> Self {
        let bounds = [range.lowerBound, range.upperBound].map { Decimal.text(Int64($0), decimals: decimals) }
        let wanted = "\(unit) from \(bounds[0]) to \(bounds[1])"
        return Kind(wanted: wanted) { text, isQuoted throws(Complaint) in
            try Self.number(text, isQuoted, decimals: decimals, in: range)
        }
    }

    private static func number(
        _ text: String, _ isQuoted: Bool, decimals: Int, in range: ClosedRange<Value>
    ) throws(Complaint) -> Value {
        switch Decimal.read(text, decimals: decimals) {
        case .parts(let parts):
            guard let value = Value(exactly: parts), range.contains(value) else { throw Complaint() }
            guard !isQuoted else { throw Complaint(advice: "leave the quotes out") }
            return value
        case .tooFine where decimals > 0: throw Complaint(advice: "it takes at most \(decimals.decimalsInWords)")
        case .withComma: throw Complaint(advice: "write the decimal point as '.'")
        case .tooFine, .tooLarge, .noNumber: throw Complaint()
        }
    }
}

extension Kind<Placed<String>> {
    static func text(longest: Int = 127, example: String) -> Self {
        Kind<String>.text(longest: longest, example: example).placed
    }
}

extension Kind<Placed<Int>> {
    static func whole(_ range: ClosedRange<Int>) -> Self { Kind<Int>.whole(range).placed }
}

extension Kind<Int64> {
    /// Milliseconds, in microseconds.
    static func milliseconds(_ range: ClosedRange<Int64>) -> Self {
        decimal(range, decimals: 3, of: "milliseconds")
    }

    /// A tempo of the session, in thousandths of a BPM.
    static var tempo: Self { decimal(20_000...999_000, decimals: 3, of: "a tempo") }
}

extension Kind<TempoRange> {
    /// Two tempos at least an octave apart.
    ///
    /// - Parameter bounds: allowed tempos, in thousandths of a BPM.
    /// - Returns: a kind written as a list.
    static func tempos(in bounds: ClosedRange<Int64>) -> Self {
        let complaint = "is narrower than an octave; the second tempo must be at least twice the first"
        return twoTempos(in: bounds, else: complaint) { TempoRange(lowest: $0, highest: $1) }
    }
}

extension Kind<TempoFence> {
    /// Two tempos, the second not below the first.
    ///
    /// - Parameter bounds: what the tempos may be, in thousandths of a beat per minute.
    /// - Returns: a kind written as a list.
    static func fence(in bounds: ClosedRange<Int64>) -> Self {
        twoTempos(in: bounds, else: "has its second tempo below its first") { TempoFence(lowest: $0, highest: $1) }
    }
}

extension Kind where Value: Sendable {
    /// Two tempos of which something is made, in thousandths of a beat per minute; or a complaint.
    fileprivate static func twoTempos(
        in bounds: ClosedRange<Int64>, else complaint: String, _ make: @escaping @Sendable (Int64, Int64) -> Value?
    ) -> Self {
        let tempo = Kind<Int64>.decimal(bounds, decimals: 3, of: "a tempo")
        return Kind { node, label, reading in
            guard node.content != .refused else { return nil }
            guard case .list(let items) = node.content, items.count == 2 else {
                reading.note(node.place, "\(label) \(node.listFinding); it takes two tempos such as [40, 300]")
                return nil
            }
            let lowest = tempo.read(items[0], "the first tempo of \(label)", &reading)
            let highest = tempo.read(items[1], "the second tempo of \(label)", &reading)
            guard let lowest, let highest else { return nil }
            if let value = make(lowest, highest) { return value }
            reading.note(items[1].place, "\(label) \(complaint)")
            return nil
        }
    }
}

extension [String] {
    /// These words as alternatives: `a, b or c`.
    var oneOfThem: String {
        guard let last, count > 1 else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " or " + last
    }
}

extension Unicode.Scalar {
    /// Whether this is a control character, such as a bell or a line break.
    var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }
}

extension Int {
    fileprivate var decimalsInWords: String { self == 1 ? "one decimal" : "\(self) decimals" }
}
