/// A value in a file: text, a list, or a section of keys.
struct YAMLNode: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        /// Text; `isQuoted` if it is quoted or a block, and so is never a number or empty.
        case scalar(String, isQuoted: Bool)
        case list([YAMLNode])
        /// Keys in the order of the file, without duplicates.
        case section([Entry])
        /// An invalid value, already reported; to be skipped.
        case refused
    }

    struct Entry: Hashable, Sendable {
        var key: String
        var place: Place
        var value: YAMLNode
    }

    var content: Content
    var place: Place

    /// Whether nothing is written here.
    var isEmpty: Bool {
        guard case .scalar(let text, isQuoted: false) = content else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// The value of a key of this section.
    subscript(key: String) -> YAMLNode? { entry(of: key)?.value }

    /// The position of a key of this section.
    func place(of key: String) -> Place? { entry(of: key)?.place }

    private func entry(of key: String) -> Entry? {
        guard case .section(let entries) = content else { return nil }
        return entries.first { $0.key == key }
    }

    /// What is written here, as the end of a clause that begins with its name.
    var finding: String {
        if isEmpty { return "is empty" }
        return switch content {
        case .scalar(let text, isQuoted: false): "is \(text.inQuotes)"
        case .scalar(let text, isQuoted: true): "is \(text.inQuotes) in quotes"
        case .list: "is a list"
        case .section: "has keys of its own"
        case .refused: "is refused"
        }
    }

    /// The same for a list with too many or too few items.
    var listFinding: String {
        guard case .list(let items) = content else { return finding }
        return items.count == 1 ? "has one item" : "has \(items.count) items"
    }
}

extension String {
    /// This text in single quotes, on one line and shortened.
    var inQuotes: String {
        var shown = ""
        for scalar in unicodeScalars.prefix(41) {
            shown.unicodeScalars.append(scalar.isControl ? " " : scalar)
        }
        if unicodeScalars.count > 40 {
            shown.unicodeScalars.removeLast()
            shown += "…"
        }
        return "'\(shown)'"
    }
}
