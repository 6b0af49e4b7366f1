/// The mistakes found while reading a file, and what its readers must know of the whole file.
struct Reading {
    var mistakes: [Mistake] = []
    /// For each key, the sections that have it, to advise on misplaced keys; "" is the top level.
    fileprivate var homes: [String: Set<String>] = [:]
    private var unknownKeys = 0

    mutating func note(_ place: Place, _ message: String) { mistakes.append(Mistake(place, message)) }

    /// Reads a whole file into a value with defaults.
    ///
    /// - Parameters:
    ///   - bytes: the file's contents.
    ///   - file: its name, for error messages.
    ///   - keys: the allowed keys.
    ///   - mayBeEmpty: whether a file without any content, such as one of comments only, leaves everything as it is.
    ///   - whole: the defaults, replaced by what is written.
    ///   - check: checks the whole value after reading; wrong keys then have their defaults.
    /// - Throws: all mistakes in the file.
    static func file<Whole>(
        _ bytes: [UInt8], named file: String, keys: [Key<Whole>], mayBeEmpty: Bool = false, into whole: inout Whole,
        check: (Whole, YAMLNode, inout Reading) -> Void = { _, _, _ in }
    ) throws(Mistakes) {
        var reader = YAMLReader(try SourceText(bytes, file: file))
        let root = try reader.tree()
        guard let root, !root.isEmpty else {
            if mayBeEmpty, reader.mistakes.isEmpty { return }
            let place = root?.place ?? Place(file: file, line: 1, column: 1)
            throw Mistakes(place, "the file is empty; begin it with 'version: 1'")
        }
        // It may be any file, such as one with secrets that a link leads to: nothing in it is quoted.
        guard let version = root["version"] else { throw Mistakes(reader.mistakes + root.lackOfVersion) }
        if version.content != .refused, !version.isVersion(Self.version) {
            throw Mistakes(
                version.place, "'version' \(version.finding); this program reads version \(Self.version)")
        }
        var reading = Reading()
        reading.mistakes = reader.mistakes
        for key in keys { reading.homes[key.name] = [""] }
        root.read(into: &whole, keys: keys, section: nil, &reading)
        check(whole, root, &reading)
        if !reading.mistakes.isEmpty { throw Mistakes(reading.mistakes) }
    }

    /// The version of both kinds of files.
    static let version = 1

    /// Notes a key that is not allowed, with advice.
    fileprivate mutating func noteUnknown(_ entry: YAMLNode.Entry, among names: [String], section: String?) {
        let unknown = "unknown key \(entry.key.inQuotes)\(section.map { " in \($0)" } ?? "")"
        unknownKeys += 1
        // Advice takes time, and nobody is told of so many.
        guard unknownKeys <= Mistakes.mostTold else { return note(entry.place, unknown) }
        if let homes = homes[entry.key], let home = homes.first, homes.count == 1 {
            note(entry.place, "\(unknown); it belongs \(home.isEmpty ? "at the top of the file" : "in '\(home)'")")
        } else if let nearest = NearestWord.to(entry.key, among: names) {
            note(entry.place, "\(unknown); did you mean '\(nearest)'?")
        } else {
            note(entry.place, "\(unknown); the keys here are \(names.joined(separator: ", "))")
        }
    }
}

extension YAMLNode {
    /// Why a file without a version is refused, without quoting it.
    ///
    /// Empty if the reason has been reported already.
    fileprivate var lackOfVersion: [Mistake] {
        switch content {
        case .refused: []
        case .section: [Mistake(place, "'version' is missing; begin the file with 'version: \(Reading.version)'")]
        case .scalar: [Mistake(place, "the file is text; it takes keys such as 'version' and 'name'")]
        case .list: [Mistake(place, "the file is a list; it takes keys such as 'version' and 'name'")]
        }
    }

    fileprivate func isVersion(_ number: Int) -> Bool {
        content == .scalar("\(number)", isQuoted: false)
    }

    /// Reads this section's keys into a value; keys that are not written leave it unchanged.
    ///
    /// - Parameters:
    ///   - whole: the value to change.
    ///   - keys: the allowed keys.
    ///   - section: the section's name; nil for a whole file.
    ///   - reading: collects mistakes.
    func read<Whole>(into whole: inout Whole, keys: [Key<Whole>], section: String?, _ reading: inout Reading) {
        guard content != .refused else { return }
        guard case .section(let entries) = content else {
            let example = keys.prefix(3).map { "'\($0.name)'" }.joined(separator: ", ")
            reading.note(place, "\(section ?? "the file") \(finding); it takes keys such as \(example)")
            return
        }
        let outer = reading.homes
        defer { reading.homes = outer }
        for key in keys {
            for child in key.children { reading.homes[child, default: []].insert(key.name) }
        }
        for entry in entries {
            if let key = keys.first(where: { $0.name == entry.key }) {
                key.read(entry.value, "'\(entry.key)'", &whole, &reading)
            } else {
                reading.noteUnknown(entry, among: keys.map(\.name), section: section)
            }
        }
        for key in keys where key.isRequired && self[key.name] == nil {
            reading.note(place, "'\(key.name)' is missing\(section.map { " in \($0)" } ?? ""); \(key.missing)")
        }
    }
}
