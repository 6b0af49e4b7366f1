public import ALSASequencer
public import Arbiter

// What outputs and ports are called by.

extension Status.Output: Named {
    public static var kind: String { "output" }
    public var names: [[String]] { [[id], [name]] }
}

extension Output: Named {
    static var kind: String { "output" }
    var names: [[String]] { [[id], [name]] }
}

extension PortDescription: Named {
    public static var kind: String { "port" }
    public var id: String { address.description }

    /// Its own name; its client's with it, or its card's, which tells equal devices apart; its client's alone.
    public var names: [[String]] {
        [[portName], ["\(clientName):\(portName)"] + (card.map { ["\($0.id):\(portName)"] } ?? []) + [clientName]]
    }

    public func isMeant(byNumber text: String) -> Bool? {
        switch PortAddress.read(text) {
        case .address(let number): number == address
        case .outOfRange: false
        case .name: nil
        }
    }
}
