/// A key that may stand in a section, and where its value goes.
///
/// A section is a list of these: reading it replaces in a value of defaults, or of any profile, what is written.
struct Key<Whole>: Sendable {
    let name: String
    private(set) var isRequired = false
    /// What is right, if it is required and not there.
    private(set) var missing = ""
    /// The keys of the section it opens.
    private(set) var children: [String] = []
    /// Reads a value, called so in mistakes.
    let read: @Sendable (YAMLNode, _ label: String, inout Whole, inout Reading) -> Void

    /// A key with a value of some kind.
    init<Value>(_ name: String, _ path: any WritableKeyPath<Whole, Value> & Sendable, _ kind: Kind<Value>) {
        self.name = name
        read = { node, label, whole, reading in
            if let value = kind.read(node, label, &reading) { whole[keyPath: path] = value }
        }
    }

    /// A key whose value stays nil as long as it is not written.
    init<Value>(_ name: String, _ path: any WritableKeyPath<Whole, Value?> & Sendable, _ kind: Kind<Value>) {
        self.name = name
        read = { node, label, whole, reading in
            if let value = kind.read(node, label, &reading) { whole[keyPath: path] = value }
        }
    }

    /// A key that opens a section with keys of its own; nothing under it is as good as no such key.
    init<Part>(_ name: String, _ path: any WritableKeyPath<Whole, Part> & Sendable, section keys: [Key<Part>]) {
        self.name = name
        children = keys.map(\.name)
        read = { node, label, whole, reading in
            if !node.isEmpty { node.read(into: &whole[keyPath: path], keys: keys, section: label, &reading) }
        }
    }

    /// A key that opens a section of a profile, which is read now to find its mistakes and kept to be read into a
    /// profile later.
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

    /// The version of the file, which is looked at before anything else.
    static var version: Self { Key(name: "version").required("begin the file with 'version: \(Reading.version)'") }

    /// This key, which must be there.
    func required(_ missing: String) -> Self {
        var key = self
        key.isRequired = true
        key.missing = missing
        return key
    }
}
