extension String {
    /// This text in lines of at most `width` characters, broken at spaces; only a longer word is broken inside.
    func wrapped(to width: Int) -> [String] {
        let width = Swift.max(1, width)
        guard count > width else { return [self] }
        var (lines, line) = ([String](), "")
        for word in split(separator: " ") {
            if !line.isEmpty, line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? word : " \(word)"
            while line.count > width {
                lines.append(String(line.prefix(width)))
                line = String(line.dropFirst(width))
            }
        }
        return line.isEmpty && !lines.isEmpty ? lines : lines + [line]
    }

    /// This text, at most `length` characters long, without its middle: beginning and end tell names apart.
    func shortened(to length: Int) -> String {
        guard count > length, length > 2 else { return self }
        return "\(prefix(length / 2))…\(suffix(length - length / 2 - 1))"
    }
}

extension Line {
    /// Narrowest text that is wrapped; on a narrower terminal its lines are cut.
    private static let narrowest = 20

    /// A text after a label, in lines of at most `width` characters; the text's lines begin below each other.
    static func wrapped(_ text: String, _ tone: Tone = .plain, after label: Line = "", to width: Int) -> [Line] {
        let lines = text.withoutControls.wrapped(to: max(narrowest, width - label.count))
        return lines.enumerated().map { index, line in
            (index == 0 ? label : Line("".padded(to: label.count))) + Line(line, tone)
        }
    }
}
