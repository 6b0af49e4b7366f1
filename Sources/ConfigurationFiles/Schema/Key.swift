/// A key of a section, and where its value is stored.
///
/// A section is a list of these. Reading it replaces the written values in a default value, or in any profile.
struct Key<Whole>: Sendable {
    let name: String
    private(set) var isRequired = false
    /// How to fix it, if it is required and missing.
    private(set) var missing = ""
    /// The keys of its section.
    private(set) var children: [String] = []
    /// Reads a value; the label is its name in error messages.
    let read: @Sendable (YAMLNode, _ label: String, inout Whole, inout Reading) -> Void

    /// A key with a value.
    init<Value>(_ name: String, _ path: any WritableKeyPath<Whole, Value> & Sendable, _ kind: Kind<Value>) {
        self.name = name
        read = { node, label, whole, reading in
            if let value = kind.read(node, label, &reading) { whole[keyPath: path] = value }
        }
    }

    /// A key with an optional value, nil unless written.
    init<Value>(_ name: String, _ path: any WritableKeyPath<Whole, Value?> & Sendable, _ kind: Kind<Value>) {
        self.name = name
        read = { node, label, whole, reading in
            if let value = kind.read(node, label, &reading) { whole[keyPath: path] = value }
        }
    }

    /// A key with a section of other keys; an empty section is like no key.
    init<Part>(_ name: String, _ path: any WritableKeyPath<Whole, Part> & Sendable, section keys: [Key<Part>]) {
        self.name = name
        children = keys.map(\.name)
        read = { node, label, whole, reading in
            if !node.isEmpty { node.read(into: &whole[keyPath: path], keys: keys, section: label, &reading) }
        }
    }

    /// A key with a section of a profile.
    ///
    /// The section is checked now, and kept to be read into a profile later.
    init(
        _ name: String, _ path: any WritableKeyPath<Whole, YAMLNode?> & Sendable, override keys: [Key<Profile>]
    ) {
        self.name = name
        children = keys.map(\.name)
        read = { node, label, whole, reading in
            guard !node.isEmpty else { return }
            var scratch = Profile(id: "", name: "")
            node.read(into: &scratch, keys: keys, section: label, &reading)
            whole[keyPath: path] = node
        }
    }

    private init(name: String) {
        self.name = name
        read = { _, _, _, _ in }
    }

    /// The version of the file, checked before anything else.
    static var version: Self { Key(name: "version").required("begin the file with 'version: \(Reading.version)'") }

    /// This key, made required.
    func required(_ missing: String) -> Self {
        var key = self
        key.isRequired = true
        key.missing = missing
        return key
    }
}
