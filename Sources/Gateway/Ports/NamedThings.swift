package import ALSASequencer
internal import ConfigurationFiles
internal import Essentials
package import GatewayStatus

// The names of outputs and ports.

extension Status.Output: Named {
    package static var kind: String { "output" }
    package var names: [[String]] { [[id], [name]] }
    package var furtherNames: [String] { [profile].compactMap(\.self) }

    /// Whether it belongs to a group; case-insensitive, and spaces around the name are ignored.
    package func isInGroup(_ name: String) -> Bool { groups.contains(name: name) }
}

extension Output: Named {
    static var kind: String { "output" }
    var names: [[String]] { [[id], [name]] }
    var furtherNames: [String] { [profile?.id].compactMap(\.self) }

    /// Whether it belongs to a group; case-insensitive, and spaces around the name are ignored.
    func isInGroup(_ name: String) -> Bool { request.groups.contains(name: name) }
}

extension [String] {
    fileprivate func contains(name: String) -> Bool {
        let name = name.trimmed.lowercased()
        return contains { $0.lowercased() == name }
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
