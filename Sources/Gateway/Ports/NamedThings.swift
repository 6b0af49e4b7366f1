package import ALSASequencer
internal import ConfigurationFiles
internal import Essentials
package import GatewayStatus

// The names of outputs and ports.

extension Status.Output: Grouped {
    package static var kind: String { "output" }
    package var names: [[String]] { [[id], [name]] }
    package var furtherNames: [String] { [profile].compactMap(\.self) }
}

extension Output: Grouped {
    static var kind: String { "output" }
    var names: [[String]] { [[id], [name]] }
    var furtherNames: [String] { [profile?.id].compactMap(\.self) }
    var groups: [String] { request.groups }
}

/// Something that also has the names of the groups to which it belongs.
package protocol Grouped: Named {
    var groups: [String] { get }
}

extension Array where Element: Grouped {
    /// What a name means: the one with this ID, else all of a group, else the one that has the name.
    ///
    /// - Parameter name: as the user wrote it; for groups it is case-insensitive, without the spaces around it.
    /// - Returns: the things, and whether one was named, not a group.
    /// - Throws: what to write instead, when it is neither a group nor exactly one thing.
    package func meant(by name: String) throws(UnclearName) -> (items: [Element], isOne: Bool) {
        if let item = first(where: { $0.id == name }) { return ([item], true) }
        let group = name.trimmed.lowercased()
        let members = filter { $0.groups.contains { $0.lowercased() == group } }
        return members.isEmpty ? ([try NameMatch.resolve(name, among: self)], true) : (members, false)
    }
}

extension PortDescription: Named {
    package static var kind: String { "port" }
    package var id: String { address.description }

    /// Its own name; with its client's or its card's name, which tells equal devices apart; its client's name alone.
    package var names: [[String]] {
        [[portName], ["\(clientName):\(portName)"] + (card.map { ["\($0.id):\(portName)"] } ?? []) + [clientName]]
    }

    package func isMeant(byNumber text: String) -> Bool? {
        switch PortAddress.read(text) {
        case .address(let number): number == address
        case .outOfRange: false
        case .name: nil
        }
    }
}
