/// A kind of value: reads one, or notes what would have been right.
struct Kind<Value>: Sendable {
    /// Reads a value, called so in mistakes; nil once a mistake is noted.
    let read: @Sendable (YAMLNode, _ label: String, inout Reading) -> Value?

    init(read: @escaping @Sendable (YAMLNode, _ label: String, inout Reading) -> Value?) { self.read = read }

    /// A kind written as one word or text.
    ///
    /// - Parameters:
    ///   - wanted: what it takes, as the end of a clause.
    ///   - scalar: reads the text; a throw says what is wrong with it, as the end of a clause that begins with its name.
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

    /// This kind, and where its value stands.
    var placed: Kind<Placed<Value>> {
        Kind<Placed<Value>> { [read] node, label, reading in
            read(node, label, &reading).map { Placed($0, at: node.place) }
        }
    }

    /// This kind, where writing `null` or nothing is as good as leaving the key out.
    var orNull: Self {
        Kind { [read] node, label, reading in node.isEmpty ? nil : read(node, label, &reading) }
    }

    /// This kind as the values of a list, which may be empty.
    ///
    /// - Parameter example: of the list, as it is written.
    /// - Returns: a kind that reads all of them, so that the mistakes of each are found.
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

/// What is wrong with a text; nil stands for what can be said without knowing more.
struct Complaint: Error {
    /// What stands there, as the end of a clause that begins with its name.
    var finding: String?
    /// What would be right.
    var advice: String?
}
