internal import ConfigurationFiles
internal import Essentials

/// Something that users refer to by name, such as an output or a port.
package protocol Named: Sendable {
    /// What such things are called in messages.
    static var kind: String { get }
    /// An ID that always means this thing only: an output's ID, or a port's number.
    var id: String { get }
    /// Its names by rank: a full match in an earlier rank wins over one in a later rank.
    ///
    /// Messages tell the user to write the first name that means only this thing.
    var names: [[String]] { get }
    /// Names that count where none of ``names`` does.
    var furtherNames: [String] { get }
    /// Whether a number means it; nil if the text is not such a number.
    func isMeant(byNumber text: String) -> Bool?
}

extension Named {
    package func isMeant(byNumber text: String) -> Bool? { nil }

    package var furtherNames: [String] { [] }

    /// What to write so that only this thing is meant.
    ///
    /// - Parameter items: all things of this kind.
    /// - Returns: its simplest unique name, or else its ID.
    package func plainestName(among items: [Self]) -> String {
        names.joined().first { name in
            guard case .found(let item) = NameMatch(name, among: items) else { return false }
            return item.id == id
        } ?? id
    }
}

/// What a name written by a user means: one thing, none, or several.
///
/// The same rule applies to outputs and ports, in commands, options, files, HTTP and OSC. A number means the thing that
/// has it. Otherwise a full name counts, or else a part of a name that only one thing has, at last of its profile's name.
/// Case-insensitive; surrounding spaces are ignored.
package enum NameMatch<Item: Named>: Sendable {
    case found(Item)
    case none
    /// Several things match; holds all of them.
    case ambiguous([Item])

    /// Finds what a name means.
    ///
    /// - Parameters:
    ///   - name: as the user wrote it.
    ///   - items: all things of this kind.
    package init(_ name: String, among items: [Item]) {
        let matches = Self.matches(name.trimmed.lowercased(), items)
        guard let only = matches.first else {
            self = .none
            return
        }
        self = matches.count == 1 ? .found(only) : .ambiguous(matches)
    }

    private static func matches(_ wanted: String, _ items: [Item]) -> [Item] {
        guard !wanted.isEmpty else { return [] }
        if items.first?.isMeant(byNumber: wanted) != nil {
            return items.filter { $0.isMeant(byNumber: wanted) == true }
        }
        let named = items.map { (item: $0, ranks: $0.names.map { $0.map { $0.lowercased() } }) }
        for rank in 0..<(named.map(\.ranks.count).max() ?? 0) {
            let whole = named.filter { $0.ranks.indices.contains(rank) && $0.ranks[rank].contains(wanted) }
            if !whole.isEmpty { return whole.map(\.item) }
        }
        let parts = named.filter { $0.ranks.joined().contains { $0.contains(wanted) } }
        guard parts.isEmpty else { return parts.map(\.item) }
        return items.filter { $0.furtherNames.contains { $0.lowercased().contains(wanted) } }
    }

    /// Finds the one thing that a name means.
    ///
    /// - Parameters:
    ///   - name: as the user wrote it.
    ///   - items: all things of this kind.
    ///   - kind: what they are called in the message.
    /// - Returns: the thing.
    /// - Throws: what to write instead, when none or several match.
    package static func resolve(
        _ name: String, among items: [Item], called kind: String = Item.kind
    ) throws(UnclearName) -> Item {
        switch NameMatch(name, among: items) {
        case .found(let item): return item
        case .none: throw UnclearName(name, unknownAmong: items, called: kind)
        case .ambiguous(let several): throw UnclearName(name, meaning: several, among: items, called: kind)
        }
    }
}

extension NameMatch: Equatable where Item: Equatable {}

/// Why a name does not mean one thing, as a clause that says what to write.
package struct UnclearName: Error, Hashable, Sendable, CustomStringConvertible {
    /// True if several things match, false if none does.
    package let isAmbiguous: Bool
    package let description: String

    /// For a name that nothing has.
    init<Item: Named>(_ name: String, unknownAmong items: [Item], called kind: String = Item.kind) {
        isAmbiguous = false
        let nearest = NearestWord.to(name.trimmed, among: items.flatMap { $0.names.joined() })
        let known = items.isEmpty ? "there are no \(kind)s" : "there are: \(Self.list(items, among: items))"
        description = "no \(kind) is called \(name); \(known)" + (nearest.map { "; did you mean '\($0)'?" } ?? "")
    }

    /// For a name that several things match.
    init<Item: Named>(
        _ name: String, meaning several: [Item], among items: [Item], called kind: String = Item.kind
    ) {
        isAmbiguous = true
        description = "several \(kind)s match \(name); write one of: \(Self.list(several, among: items))"
    }

    /// What to write for each thing, with its number if it has one.
    private static func list<Item: Named>(_ several: [Item], among items: [Item]) -> String {
        let names = several.prefix(mostListed).map { item in
            let name = item.plainestName(among: items)
            let hasNumber = item.isMeant(byNumber: item.id) == true && name != item.id
            return quoted(name) + (hasNumber ? " (\(item.id))" : "")
        }
        let others = several.count - names.count
        return names.joined(separator: ", ") + (others > 0 ? " and \(others) more" : "")
    }

    private static let mostListed = 8
}

/// A name in quotes, as a shell and a configuration file accept it.
private func quoted(_ name: String) -> String {
    let isPlain = name.allSatisfy { $0.isLetter || $0.isNumber || "-_./:".contains($0) }
    return isPlain ? name : name.contains("'") ? "\"\(name)\"" : "'\(name)'"
}
