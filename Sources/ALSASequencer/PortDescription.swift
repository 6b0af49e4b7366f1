/// A port's number on the sequencer, written `client:port`.
public struct PortAddress: Hashable, Sendable, BitwiseCopyable, CustomStringConvertible {
    public var client: Int
    public var port: Int

    public init(client: Int, port: Int) {
        self.client = client
        self.port = port
    }

    public var description: String { "\(client):\(port)" }
}

extension PortAddress {
    /// What a text means where a port's number or its name may stand.
    public enum Reading: Hashable, Sendable {
        case address(PortAddress)
        /// A number that no port can have.
        case outOfRange
        case name
    }

    /// Reads `client:port`; a text of digits, a colon and digits is never a name.
    public static func read(_ text: some StringProtocol) -> Reading {
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

/// A sequencer port as others see it.
public struct PortDescription: Hashable, Sendable {
    public var address: PortAddress
    /// The name of the client it belongs to, trimmed.
    public var clientName: String
    /// Its own name, trimmed: drivers pad names with spaces.
    public var portName: String
    /// Whether others may subscribe to what it sends.
    public var isReadable: Bool
    /// Whether others may send to it by subscription.
    public var isWritable: Bool
    /// Whether a driver stands behind it that hands what it is sent to a machine.
    public var isHardware: Bool
    /// The card it belongs to; nil for a program's port.
    public var card: SoundCard?

    public init(
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

/// What a name given by the user finds among the ports.
public enum PortMatch: Hashable, Sendable {
    case found(PortDescription)
    case none
    /// Several ports answer to it; all are given.
    case ambiguous([PortDescription])

    /// Finds the port a name means: case and surrounding spaces do not count.
    ///
    /// - Parameters:
    ///   - name: the whole name of a port, of a client, `client:port` by names, or `card:port` by the card's short name,
    ///     which tells equal devices apart; or else a part of any of them.
    ///   - ports: the candidates.
    /// - Returns: the one port with that whole name; without one, the one port a part of whose name it is.
    public static func find(_ name: String, among ports: [PortDescription]) -> PortMatch {
        let wanted = name.trimmed.lowercased()
        func names(_ port: PortDescription) -> [String] {
            let whole = [port.portName, port.clientName, "\(port.clientName):\(port.portName)"]
            return (whole + (port.card.map { ["\($0.id):\(port.portName)"] } ?? [])).map { $0.lowercased() }
        }
        let exactPort = ports.filter { $0.portName.lowercased() == wanted }
        let exact = exactPort.isEmpty ? ports.filter { names($0).contains(wanted) } : exactPort
        let matches = exact.isEmpty ? ports.filter { names($0).contains { $0.contains(wanted) } } : exact
        guard let only = matches.first else { return .none }
        return matches.count == 1 ? .found(only) : .ambiguous(matches)
    }
}

extension String {
    /// This text without spaces at its ends.
    var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
