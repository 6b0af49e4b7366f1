/// Builds a tree from a file's YAML, and refuses features that these files do not use.
///
/// A few hundred bytes of aliases can stand for an endless tree, so they are refused and never followed. The tree is at
/// most as large as the text, and no deeper than ``deepest``.
struct YAMLReader: ~Copyable {
    /// Deepest nesting of sections and lists; the files need five.
    static let deepest = 32

    private let source: SourceText
    private var events: YAMLEvents
    /// Mistakes found while reading on.
    private(set) var mistakes: [Mistake] = []
    /// Whether the file's own key `version` has been read.
    private var hasVersion = false

    init(_ source: SourceText) {
        self.source = source
        events = YAMLEvents(source.bytes)
    }

    /// The whole text as a tree, nil if it has no content; ``mistakes`` holds further mistakes.
    ///
    /// - Throws: the mistake that ended the reading, with all found before.
    mutating func tree() throws(Mistakes) -> YAMLNode? {
        do throws(Mistake) {
            guard case .documentStart = try next().content else { return nil }
            let root = try node(try next(), depth: 0)
            let end = try next()
            guard case .fileEnd = end.content else {
                throw mistake(at: end.index, "a second document begins here; a file can hold only one")
            }
            return root
        } catch {
            throw Mistakes(mistakes + [error])
        }
    }

    private mutating func next() throws(Mistake) -> YAMLEvent {
        do throws(YAMLFault) {
            return try events.next()
        } catch {
            throw Mistake(error, in: source)
        }
    }

    private func mistake(at index: Int, _ message: String) -> Mistake {
        Mistake(source.place(ofScalar: index), message)
    }

    /// The value that begins with an event.
    private mutating func node(_ start: YAMLEvent, depth: Int) throws(Mistake) -> YAMLNode {
        guard depth < Self.deepest else {
            throw mistake(at: start.index, "this is nested deeper than \(Self.deepest) levels")
        }
        let place = source.place(ofScalar: start.index)
        if let refusal = start.refusal { mistakes.append(Mistake(place, refusal)) }
        let content: YAMLNode.Content
        switch start.content {
        case .scalar(let text, let isQuoted): content = .scalar(text, isQuoted: isQuoted)
        case .listStart: content = .list(try items(depth: depth + 1))
        case .sectionStart: content = .section(try entries(depth: depth + 1))
        // The parser returns the others only where no value begins.
        case .alias, .documentStart, .end, .fileEnd: content = .refused
        }
        return YAMLNode(content: start.refusal == nil ? content : .refused, place: place)
    }

    private mutating func items(depth: Int) throws(Mistake) -> [YAMLNode] {
        var items: [YAMLNode] = []
        while let start = try nextOrEnd() { items.append(try node(start, depth: depth)) }
        return items
    }

    private mutating func entries(depth: Int) throws(Mistake) -> [YAMLNode.Entry] {
        var entries: [YAMLNode.Entry] = []
        var lines: [String: Int] = [:]
        let isFile = depth == 1
        while let start = try nextOrEnd() {
            let key = try node(start, depth: depth)
            let value = try node(try next(), depth: depth)
            guard case .scalar(let name, let isQuoted) = key.content else {
                if key.content != .refused {
                    mistakes.append(Mistake(key.place, "a key must be a word such as 'name'"))
                }
                continue
            }
            if let line = lines[name] {
                // A file without a version may be anything, and is not quoted.
                let subject = hasVersion ? name.inQuotes : "this key"
                mistakes.append(Mistake(key.place, "\(subject) is given already, in line \(line); keep one"))
            } else if name == "<<", !isQuoted {
                mistakes.append(Mistake(key.place, "'<<' merges a section named elsewhere; write its keys out"))
            } else {
                lines[name] = key.place.line
                if isFile, name == "version" { hasVersion = true }
                entries.append(YAMLNode.Entry(key: name, place: key.place, value: value))
            }
        }
        return entries
    }

    /// The next event; nil if it ends the innermost list or section.
    private mutating func nextOrEnd() throws(Mistake) -> YAMLEvent? {
        let event = try next()
        if case .end = event.content { return nil }
        return event
    }
}

extension YAMLEvent {
    /// Why the value that begins here is refused; nil if it is not.
    fileprivate var refusal: String? {
        if case .alias = content { return "'*' stands for a value named elsewhere; write the value out, or quote text" }
        if hasAnchor { return "'&' names a value for use elsewhere; leave the name out, or quote text" }
        guard let tag else { return nil }
        // A type that only confirms the value is harmless.
        let usual: String
        switch content {
        case .listStart: usual = "seq"
        case .sectionStart: usual = "map"
        default: usual = "str"
        }
        return tag == "tag:yaml.org,2002:\(usual)" ? nil : "'!' names a type of value; leave it out, or quote text"
    }
}
