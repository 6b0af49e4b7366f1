internal import CYAML

/// One step of reading YAML: a text, the start or end of a list or section, or an unsupported feature.
struct YAMLEvent {
    enum Content {
        case documentStart
        /// Text; `isQuoted` if it is quoted or a block.
        case scalar(String, isQuoted: Bool)
        case listStart
        case sectionStart
        /// The end of the innermost list or section.
        case end
        /// `*name`: a value written elsewhere.
        case alias
        /// The end of the file; repeated forever.
        case fileEnd
    }

    var content: Content
    /// Index of its first character.
    var index: Int
    /// Whether the value has a name for use elsewhere: `&name`.
    var hasAnchor = false
    /// The type written before the value, in full.
    var tag: String?
}

/// The events of a text, read one at a time by libyaml; owns the memory of libyaml's parser.
struct YAMLEvents: ~Copyable {
    /// On the heap, because libyaml keeps pointers into it.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    /// A copy of the text, because libyaml reads it piece by piece.
    private let input: UnsafeMutableBufferPointer<UInt8>

    /// - Parameter text: UTF-8 without a byte order mark.
    init(_ text: some Collection<UInt8>) {
        parser = .allocate(capacity: 1)
        // Fails only when out of memory, like Swift's own allocations.
        guard yaml_parser_initialize(parser) != 0 else { fatalError("there is no memory left") }
        input = .allocate(capacity: text.count)
        _ = input.initialize(from: text)
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, input.baseAddress, input.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        input.deallocate()
    }

    /// The next event.
    ///
    /// - Throws: why the text is not YAML; nothing can be read after that.
    mutating func next() throws(YAMLFault) -> YAMLEvent {
        while true {
            var event = yaml_event_t()
            guard yaml_parser_parse(parser, &event) != 0 else { throw YAMLFault(parser.pointee) }
            defer { yaml_event_delete(&event) }
            if let event = YAMLEvent(event) { return event }
        }
    }
}

extension YAMLEvent {
    /// nil for an event without meaning here: start of the file, end of a document.
    fileprivate init?(_ event: yaml_event_t) {
        let index = event.start_mark.index
        let data = event.data
        switch event.type {
        case YAML_DOCUMENT_START_EVENT: self.init(content: .documentStart, index: index)
        case YAML_SCALAR_EVENT:
            let scalar = data.scalar
            let text = String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
            self.init(
                content: .scalar(text, isQuoted: scalar.style != YAML_PLAIN_SCALAR_STYLE), index: index,
                hasAnchor: scalar.anchor != nil, tag: Self.text(scalar.tag))
        case YAML_SEQUENCE_START_EVENT:
            let list = data.sequence_start
            self.init(content: .listStart, index: index, hasAnchor: list.anchor != nil, tag: Self.text(list.tag))
        case YAML_MAPPING_START_EVENT:
            let section = data.mapping_start
            self.init(
                content: .sectionStart, index: index, hasAnchor: section.anchor != nil, tag: Self.text(section.tag))
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: self.init(content: .end, index: index)
        case YAML_ALIAS_EVENT: self.init(content: .alias, index: index)
        case YAML_STREAM_END_EVENT, YAML_NO_EVENT: self.init(content: .fileEnd, index: index)
        default: return nil
        }
    }

    private static func text(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        text.map { String(cString: $0) }
    }
}

/// Why libyaml cannot read a text, in libyaml's words.
struct YAMLFault: Error {
    /// Where reading stopped, as a character index.
    var index: Int
    var problem: String
    /// What libyaml was reading, such as `while scanning a quoted scalar`; empty if it does not say.
    var context = ""
    /// Where that began.
    var contextIndex: Int?

    fileprivate init(_ parser: yaml_parser_t) {
        index = parser.problem_mark.index
        problem = parser.problem.map { String(cString: $0) } ?? "there is no memory left"
        if let context = parser.context {
            self.context = String(cString: context)
            contextIndex = parser.context_mark.index
        }
    }
}
