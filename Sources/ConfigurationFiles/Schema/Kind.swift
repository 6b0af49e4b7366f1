/// A kind of value: reads one, or reports what would have been right.
struct Kind<Value>: Sendable {
    /// Reads a value with a label for error messages; nil after a mistake.
    let read: @Sendable (YAMLNode, _ label: String, inout Reading) -> Value?

    init(read: @escaping @Sendable (YAMLNode, _ label: String, inout Reading) -> Value?) { self.read = read }

    /// A kind written as a single word or text.
    ///
    /// - Parameters:
    ///   - wanted: the allowed values, as the end of a clause.
    ///   - scalar: parses the text; an error says what is wrong, as the end of a clause that begins with its name.
    init(
        wanted: String,
        scalar: @escaping @Sendable (String, _ isQuoted: Bool) throws(Complaint) -> Value
    ) {
        self.init { node, label, reading in
            guard node.content != .refused else { return nil }
            guard case .scalar(let text, let isQuoted) = node.content, !node.isEmpty else {
                reading.note(node.place, "\(label) \(node.finding); it takes \(wanted)")
                return nil
            }
            do throws(Complaint) {
                return try scalar(text, isQuoted)
            } catch {
                let advice = error.advice ?? "it takes \(wanted)"
                reading.note(node.place, "\(label) \(error.finding ?? node.finding); \(advice)")
                return nil
            }
        }
    }

    /// This kind, with the value's position.
    var placed: Kind<Placed<Value>> {
        Kind<Placed<Value>> { [read] node, label, reading in
            read(node, label, &reading).map { Placed($0, at: node.place) }
        }
    }

    /// This kind; `null` or an empty value is like leaving the key out.
    var orNull: Self {
        Kind { [read] node, label, reading in node.isEmpty ? nil : read(node, label, &reading) }
    }

    /// A list of this kind, possibly empty.
    ///
    /// - Parameter example: of such a list, as written.
    /// - Returns: a kind that reads all values, so that all mistakes are found.
    func list(example: String) -> Kind<[Value]> {
        Kind<[Value]> { [read] node, label, reading in
            guard node.content != .refused else { return nil }
            guard !node.isEmpty else { return [] }
            guard case .list(let items) = node.content else {
                reading.note(node.place, "\(label) \(node.finding); it takes a list such as \(example)")
                return nil
            }
            return items.enumerated().compactMap { index, item in
                read(item, "item \(index + 1) of \(label)", &reading)
            }
        }
    }
}

/// What is wrong with a text; nil means no details.
struct Complaint: Error {
    /// What is written there, as the end of a clause that begins with its name.
    var finding: String?
    /// What would be right.
    var advice: String?
}
