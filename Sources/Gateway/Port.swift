public import ALSASequencer

/// A sequencer port as scripts read it.
public struct Port: Codable, Hashable, Sendable {
    public var client: Int
    public var port: Int
    public var clientName: String
    public var portName: String
    /// Whether a clock can be sent to it.
    public var takes: Bool
    /// Whether a clock can come from it.
    public var sends: Bool

    init(_ port: PortDescription) {
        client = port.address.client
        self.port = port.address.port
        clientName = port.clientName
        portName = port.portName
        takes = port.isWritable
        sends = port.isReadable
    }

    /// Those of the sequencer's ports that send or take something.
    public static func all(_ ports: [PortDescription]) -> [Port] { ports.filter(\.isUsable).map(Port.init) }
}

extension PortDescription {
    /// Whether it sends or takes something; client 0 is the sequencer itself.
    public var isUsable: Bool { address.client != 0 && (isReadable || isWritable) }
}
