extension Mistake {
    /// A libyaml error as a plain message at the most helpful position.
    init(_ fault: YAMLFault, in source: SourceText) {
        let character = fault.index < source.scalars.count ? source.scalars[fault.index] : nil
        let advice = Advice(on: fault.problem, while: fault.context, at: character)
        // An unclosed quote or bracket is reported where it begins.
        let index = advice.isAtBeginning ? fault.contextIndex ?? fault.index : fault.index
        self.init(source.place(ofScalar: index), advice.text)
    }
}

/// The message for an error.
private struct Advice {
    var text: String
    /// Whether to report the error where the construct begins instead of where reading stopped.
    var isAtBeginning = false

    init(_ text: String, isAtBeginning: Bool = false) {
        self.text = text
        self.isAtBeginning = isAtBeginning
    }

    /// - Parameters:
    ///   - problem: in libyaml's words.
    ///   - context: what libyaml was reading.
    ///   - character: where it stopped.
    init(on problem: String, while context: String, at character: Unicode.Scalar?) {
        if character == "\t" || problem.hasPrefix("found a tab") {
            self.init("a tab is not allowed here; indent with spaces")
        } else if let known = Self.problems[problem] {
            let isBracket = character == "]" || character == "}"
            self = isBracket && known.text == Self.unlined ? Advice("this bracket closes nothing; delete it") : known
        } else {
            self = Self.contexts[context] ?? Advice("this cannot be read as YAML: \(problem)")
        }
    }

    private static let contexts: [String: Advice] = {
        let tag = Advice(
            "'!' is not allowed here; put quotes around text that begins with it", isAtBeginning: true)
        let directive = Advice(
            "'%' is not allowed at the beginning of a line; leave the line out, or quote text", isAtBeginning: true)
        return [
            "while scanning a tag": tag, "while parsing a tag": tag, "while parsing a node": tag,
            "while scanning an anchor": Advice(
                "'&' is not allowed here; put quotes around text that begins with it", isAtBeginning: true),
            "while scanning an alias": Advice(
                "'*' stands for a value named elsewhere; write the value out, or quote text", isAtBeginning: true),
            "while scanning a directive": directive, "while scanning a %YAML directive": directive,
            "while scanning a %TAG directive": directive, "while scanning a tag directive": directive,
            "while parsing a %TAG directive": directive, "while parsing a tag directive": directive,
            "while scanning a block scalar": Advice(
                "'|' and '>' begin text on lines of its own; put quotes around text that begins with them",
                isAtBeginning: true),
            "while parsing a quoted scalar": Advice(
                #"'\' in double quotes begins a special character; use single quotes"#),
        ]
    }()

    private static let unlined = "this does not line up with what stands above; indent keys of one section alike"

    private static let problems: [String: Advice] = [
        "mapping values are not allowed in this context": Advice(
            "a second ':' in one value, or a key indented unlike its neighbours; quote text that holds ': '"),
        "could not find expected ':'": Advice(
            "this is not a key; a key is followed by ':' and a space", isAtBeginning: true),
        "did not find expected key": Advice(unlined),
        "did not find expected '-' indicator": Advice(
            "this does not line up with the list above; begin each item with '- '"),
        "did not find expected ',' or ']'": Advice(
            "this list is not closed by ']', or lacks a ',' between two items", isAtBeginning: true),
        "did not find expected ',' or '}'": Advice(
            "this section is not closed by '}', or lacks a ',' between two keys", isAtBeginning: true),
        "did not find expected node content": Advice("a value is missing here"),
        "did not find expected <document start>": Advice(unlined),
        "found character that cannot start any token": Advice(
            "text cannot begin with this character; put quotes around it"),
        "found unexpected end of stream": Advice(
            "quotes are opened here and never closed", isAtBeginning: true),
        "found unexpected document indicator": Advice(
            "quotes are opened here and never closed", isAtBeginning: true),
        "mapping keys are not allowed in this context": Advice(
            "'?' is not allowed here; put quotes around text that begins with it"),
        "block sequence entries are not allowed in this context": Advice(
            "an item of a list cannot begin here; begin it with '- ' on a line of its own"),
        "found unexpected ':'": Advice("':' is not allowed here; put quotes around text that holds it"),
        "found incompatible YAML document": Advice("the '%YAML' line is not allowed here; leave it out"),
        "found duplicate %YAML directive": Advice("the '%YAML' line is not allowed here; leave it out"),
    ]
}
