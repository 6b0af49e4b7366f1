/// A file's text, checked to be UTF-8 of acceptable length without control characters.
struct SourceText {
    /// Longest file, in bytes.
    static let longest = 256 * 1024

    let file: String
    /// Without a byte order mark, like ``scalars``.
    let bytes: ArraySlice<UInt8>
    let scalars: [Unicode.Scalar]
    /// Index of each line's beginning in ``scalars``.
    private let lineStarts: [Int]

    init(_ bytes: [UInt8], file: String) throws(Mistakes) {
        let top = Place(file: file, line: 1, column: 1)
        guard bytes.count <= Self.longest else {
            throw Mistakes(top, "the file is longer than \(Self.longest / 1024) KiB, too long for such a file")
        }
        guard !bytes.starts(with: [0xFF, 0xFE]), !bytes.starts(with: [0xFE, 0xFF]) else {
            throw Mistakes(top, "the file is UTF-16; save it as UTF-8")
        }
        var scalars: [Unicode.Scalar] = []
        scalars.reserveCapacity(bytes.count)
        var decoder = Unicode.UTF8()
        var rest = bytes.makeIterator()
        var isWhole = true
        decoding: while true {
            switch decoder.decode(&rest) {
            case .scalarValue(let scalar): scalars.append(scalar)
            case .emptyInput: break decoding
            case .error:
                isWhole = false
                break decoding
            }
        }
        if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
        self.file = file
        self.bytes = bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
        self.scalars = scalars
        lineStarts = Self.lineStarts(in: scalars)
        guard isWhole else {
            throw Mistakes(place(ofScalar: scalars.count), "this is not UTF-8; save the file as UTF-8")
        }
        guard let index = scalars.firstIndex(where: { !Self.isText($0) }) else { return }
        let number = String(scalars[index].value, radix: 16, uppercase: true)
        let name = "U+" + String(repeating: "0", count: max(0, 4 - number.count)) + number
        throw Mistakes(place(ofScalar: index), "the character \(name) is not allowed in these files; delete it")
    }

    /// Whether a character is allowed: what YAML allows, except unusual line breaks.
    private static func isText(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x20...0x7E, 0xA0...0x2027, 0x202A...0xFEFE, 0xFF00...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }

    private static func lineStarts(in scalars: [Unicode.Scalar]) -> [Int] {
        var starts = [0]
        for (index, scalar) in scalars.enumerated() {
            let isPair = scalar == "\r" && index + 1 < scalars.count && scalars[index + 1] == "\n"
            if scalar == "\n" || scalar == "\r" && !isPair { starts.append(index + 1) }
        }
        return starts
    }

    /// The position of a character; anything after the last line break is at the end of the last line.
    func place(ofScalar index: Int) -> Place {
        var index = min(max(0, index), scalars.count)
        if index == scalars.count {
            while index > 0, scalars[index - 1] == "\n" || scalars[index - 1] == "\r" { index -= 1 }
        }
        // Binary search: a file may be all line breaks, and each of its nodes asks.
        var (line, beyond) = (0, lineStarts.count)
        while beyond - line > 1 {
            let middle = (line + beyond) / 2
            if lineStarts[middle] <= index { line = middle } else { beyond = middle }
        }
        return Place(file: file, line: line + 1, column: index - lineStarts[line] + 1)
    }
}
