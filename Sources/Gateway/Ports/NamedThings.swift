package import ALSASequencer
package import GatewayStatus

// The names of outputs and ports.

extension Status.Output: Named {
    package static var kind: String { "output" }
    package var names: [[String]] { [[id], [name]] }
}

extension Output: Named {
    static var kind: String { "output" }
    var names: [[String]] { [[id], [name]] }
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
