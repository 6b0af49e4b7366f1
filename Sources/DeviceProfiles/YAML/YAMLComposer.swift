internal import Yams

/// Makes a tree of a text, through Yams, and refuses what these files have no use for.
///
/// Some of it must not reach Yams at all: a few hundred bytes of aliases stand for a tree without end, and keys that are
/// trees themselves are compared whole at every level. Yet only a parser can tell `*` and `?` in a text from those that
/// begin such things. So it is handed a private character in place of each, which begins nothing, and they are put
/// back afterwards. A key given twice would end the parser's work at once; the first is hidden from it in the same
/// way, so that everything else that is wrong is found, too.
struct YAMLComposer {
    /// How deep sections and lists may be nested; the files need five.
    static let deepest = 32
    /// After this many keys given twice no others are looked for.
    private static let mostRepeats: UInt32 = 32

    private let source: SourceText
    private var scalars: [Unicode.Scalar]
    /// What stands for what; no text holds these characters, see ``SourceText``.
    private var hidden: [Unicode.Scalar: Unicode.Scalar] = [Self.star: "*", Self.questionMark: "?"]
    private var repeats: UInt32 = 0
    private(set) var mistakes: [Mistake] = []

    private static let star: Unicode.Scalar = "\u{100000}"
    private static let questionMark: Unicode.Scalar = "\u{100001}"
    /// Stands for the first letter of the first key given twice; those of others follow.
    private static let firstLetter: UInt32 = 0x100002

    init(_ source: SourceText) {
        self.source = source
        scalars = source.scalars.map { $0 == "*" ? Self.star : $0 == "?" ? Self.questionMark : $0 }
    }

    /// The whole text as a tree; ``mistakes`` holds what was found besides.
    mutating func tree() throws(Mistakes) -> YAMLNode {
        while true {
            do {
                let parser = try Parser(yaml: text, resolver: .basic, encoding: .utf8)
                guard let root = try parser.singleRoot() else {
                    throw Mistakes(source.place(ofScalar: 0), "the file is empty; begin it with 'version: 1'")
                }
                // Nodes hold their anchors weakly; the parser keeps them.
                return withExtendedLifetime(parser) { node(root, depth: 0) }
            } catch let error as Mistakes {
                throw error
            } catch YamlError.duplicatedKeysInMapping(_, let context) {
                let index = source.index(line: context.mark.line, column: context.mark.column)
                guard hide(keyAt: index) else {
                    throw Mistakes(source.place(ofScalar: index), "this key is given twice; keep one of them")
                }
            } catch {
                let complaint = YAMLComplaint(error, in: source)
                throw Mistakes([complaint.mistake])
            }
        }
    }

    private var text: String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }

    /// Makes a key unlike any other; false where it would change what the text means.
    private mutating func hide(keyAt index: Int) -> Bool {
        let isQuoted = index < scalars.count && (scalars[index] == "'" || scalars[index] == "\"")
        let first = index + (isQuoted ? 1 : 0)
        guard first < scalars.count, scalars[first].properties.isAlphabetic || ("0"..."9").contains(scalars[first]),
            repeats < Self.mostRepeats, let mask = Unicode.Scalar(Self.firstLetter + repeats)
        else { return false }
        repeats += 1
        hidden[mask] = scalars[first]
        scalars[first] = mask
        return true
    }

    private func restored(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0 >= Self.star }) else { return text }
        var restored = String.UnicodeScalarView()
        restored.append(contentsOf: text.unicodeScalars.map { hidden[$0] ?? $0 })
        return String(restored)
    }

    private mutating func node(_ node: Node, depth: Int) -> YAMLNode {
        let place = source.place(line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
        func refused(_ message: String) -> YAMLNode {
            mistakes.append(Mistake(place, message))
            return YAMLNode(content: .refused, place: place)
        }
        guard depth < Self.deepest else { return refused("this is nested deeper than \(Self.deepest) levels") }
        guard node.anchor == nil else {
            return refused("'&' names a value for use elsewhere; leave the name out, or quote text")
        }
        switch node {
        case .scalar(let scalar):
            let isPlain = scalar.style == .plain
            if isPlain, scalar.string.unicodeScalars.first == Self.star {
                return refused("'*' stands for a value named elsewhere; write the value out, or quote text")
            }
            guard [.implicit, .str].contains(scalar.tag.written) else { return refused(Self.noTags) }
            return YAMLNode(content: .scalar(restored(scalar.string), isQuoted: !isPlain), place: place)
        case .sequence(let sequence):
            guard [.implicit, .seq].contains(sequence.tag.written) else { return refused(Self.noTags) }
            return YAMLNode(content: .list(sequence.map { self.node($0, depth: depth + 1) }), place: place)
        case .mapping(let mapping):
            guard [.implicit, .map].contains(mapping.tag.written) else { return refused(Self.noTags) }
            return YAMLNode(content: .section(entries(of: mapping, depth: depth)), place: place)
        case .alias:
            return refused("a value named elsewhere has no place in these files; write it out")
        }
    }

    private static let noTags = "'!' names a type of value; leave it out, or quote text"

    private mutating func entries(of mapping: Node.Mapping, depth: Int) -> [YAMLNode.Entry] {
        var entries: [YAMLNode.Entry] = []
        var lines: [String: Int] = [:]
        for (key, value) in mapping {
            let name = node(key, depth: depth + 1)
            let value = node(value, depth: depth + 1)
            guard case .scalar(let text, let isQuoted) = name.content else {
                if name.content != .refused { mistakes.append(Mistake(name.place, "a key is a word such as 'name'")) }
                continue
            }
            if let line = lines[text] {
                mistakes.append(Mistake(name.place, "\(text.inQuotes) is given already, in line \(line); keep one"))
            } else if text == "<<", !isQuoted {
                mistakes.append(Mistake(name.place, "'<<' merges a section named elsewhere; write its keys out"))
            } else {
                lines[text] = name.place.line
                entries.append(YAMLNode.Entry(key: text, place: name.place, value: value))
            }
        }
        return entries
    }
}

extension Tag {
    /// What is written, or what stands there anyway: Yams replaces the one by the other when it compares keys.
    fileprivate var written: Name { Name(rawValue: rawValue) }
}
