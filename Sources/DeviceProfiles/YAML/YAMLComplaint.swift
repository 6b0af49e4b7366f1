internal import Yams

/// What the parser says of a text that is not YAML, in plain words and at the place to look at.
struct YAMLComplaint {
    let mistake: Mistake

    init(_ error: any Error, in source: SourceText) {
        switch error as? YamlError {
        case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _):
            let index = source.index(line: mark.line, column: mark.column)
            let character = index < source.scalars.count ? source.scalars[index] : nil
            let advice = Self.advice(on: problem, while: context?.text ?? "", at: character)
            // What never ends is to be looked for where it begins.
            let place = advice.isAtBeginning ? context?.mark ?? mark : mark
            mistake = Mistake(source.place(line: place.line, column: place.column), advice.text)
        case .composer(_, _, let mark, _):
            let place = source.place(line: mark.line, column: mark.column)
            mistake = Mistake(place, "a second document begins here; one file holds one")
        default:
            mistake = Mistake(source.place(ofScalar: 0), "the file cannot be read as YAML")
        }
    }

    private struct Advice {
        var text: String
        var isAtBeginning = false
    }

    private static func advice(on problem: String, while context: String, at character: Unicode.Scalar?) -> Advice {
        if character == "\t" || problem.hasPrefix("found a tab") {
            return Advice(text: "a tab has no place here; indent with spaces")
        }
        if let known = problems[problem] {
            let isBracket = character == "]" || character == "}"
            return isBracket && known.text == unlined ? Advice(text: "this bracket closes nothing; delete it") : known
        }
        return switch context {
        case "while scanning a tag", "while parsing a tag", "while parsing a node":
            Advice(text: "'!' has no place here; put quotes around text that begins with it", isAtBeginning: true)
        case "while scanning an anchor", "while scanning an alias":
            Advice(text: "'&' has no place here; put quotes around text that begins with it", isAtBeginning: true)
        case "while scanning a directive", "while scanning a %YAML directive", "while scanning a %TAG directive",
            "while parsing a %TAG directive", "while parsing a tag directive", "while scanning a tag directive":
            Advice(
                text: "'%' has no place at the beginning of a line; leave the line out, or quote text",
                isAtBeginning: true)
        case "while scanning a block scalar":
            Advice(
                text: "'|' and '>' begin text on lines of its own; put quotes around text that begins with them",
                isAtBeginning: true)
        case "while parsing a quoted scalar":
            Advice(text: #"'\' begins a sign of several letters in double quotes; use single quotes"#)
        case "while parsing":
            Advice(text: "this is nested deeper than \(YAMLComposer.deepest) levels")
        default: Advice(text: "this cannot be read as YAML: \(problem)")
        }
    }

    private static let unlined = "this does not line up with what stands above; indent keys of one section alike"

    private static let problems: [String: Advice] = [
        "mapping values are not allowed in this context": Advice(
            text: "a second ':' in one value, or a key indented unlike its neighbours; quote text that holds ': '"),
        "could not find expected ':'": Advice(
            text: "this is no key; a key is followed by ':' and a space", isAtBeginning: true),
        "did not find expected key": Advice(text: unlined),
        "did not find expected '-' indicator": Advice(
            text: "this does not line up with the list above; begin each item with '- '"),
        "did not find expected ',' or ']'": Advice(
            text: "this list is not closed by ']', or lacks a ',' between two items", isAtBeginning: true),
        "did not find expected ',' or '}'": Advice(
            text: "this section is not closed by '}', or lacks a ',' between two keys", isAtBeginning: true),
        "did not find expected node content": Advice(text: "a value is missing here"),
        "did not find expected <document start>": Advice(text: unlined),
        "found character that cannot start any token": Advice(
            text: "text cannot begin with this character; put quotes around it"),
        "found unexpected end of stream": Advice(
            text: "quotes are opened here and never closed", isAtBeginning: true),
        "found unexpected document indicator": Advice(
            text: "quotes are opened here and never closed", isAtBeginning: true),
        "block sequence entries are not allowed in this context": Advice(
            text: "an item of a list cannot begin here; begin it with '- ' on a line of its own"),
        "found unexpected ':'": Advice(text: "':' has no place here; put quotes around text that holds it"),
        "found incompatible YAML document": Advice(text: "the '%YAML' line has no place here; leave it out"),
        "found duplicate %YAML directive": Advice(text: "the '%YAML' line has no place here; leave it out"),
    ]
}
