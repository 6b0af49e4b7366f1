/// A port's number on the sequencer, written `client:port`.
package struct PortAddress: Hashable, Comparable, Sendable, BitwiseCopyable, CustomStringConvertible {
    package var client: Int
    package var port: Int

    package init(client: Int, port: Int) {
        self.client = client
        self.port = port
    }

    package var description: String { "\(client):\(port)" }

    /// The order in which ports are listed.
    package static func < (left: PortAddress, right: PortAddress) -> Bool {
        (left.client, left.port) < (right.client, right.port)
    }
}

extension PortAddress {
    /// How a text that may be a port's number or name was understood.
    package enum Reading: Hashable, Sendable {
        case address(PortAddress)
        /// A number that no port can have.
        case outOfRange
        case name
    }

    /// Reads `client:port`; digits, a colon and digits are never a name.
    package static func read(_ text: some StringProtocol) -> Reading {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        func isDigits(_ part: some StringProtocol) -> Bool {
            !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        guard parts.count == 2, isDigits(parts[0]), isDigits(parts[1]) else { return .name }
        guard let client = UInt8(parts[0]), let port = UInt8(parts[1]), client < 192, port < 254 else {
            return .outOfRange
        }
        return .address(PortAddress(client: Int(client), port: Int(port)))
    }
}

/// A sequencer port as other programs see it.
package struct PortDescription: Hashable, Sendable {
    package var address: PortAddress
    /// Name of its client, trimmed.
    package var clientName: String
    /// Its own name, trimmed: drivers pad names with spaces.
    package var portName: String
    /// Whether others may subscribe to receive from it.
    package var isReadable: Bool
    /// Whether others may subscribe to send to it.
    package var isWritable: Bool
    /// Whether a driver passes what it receives to a machine.
    package var isHardware: Bool
    /// The sound card it belongs to; nil for a program's port.
    package var card: SoundCard?

    package init(
        address: PortAddress, clientName: String, portName: String, isReadable: Bool, isWritable: Bool,
        isHardware: Bool = false, card: SoundCard? = nil
    ) {
        self.address = address
        self.clientName = clientName
        self.portName = portName
        self.isReadable = isReadable
        self.isWritable = isWritable
        self.isHardware = isHardware
        self.card = card
    }
}
