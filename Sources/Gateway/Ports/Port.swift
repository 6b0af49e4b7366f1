package import ALSASequencer

/// A sequencer port as scripts read it.
package struct Port: Codable, Hashable, Sendable {
    package var client: Int
    package var port: Int
    package var clientName: String
    package var portName: String
    /// Whether it can receive a clock.
    package var takes: Bool
    /// Whether it can send a clock.
    package var sends: Bool

    init(_ port: PortDescription) {
        client = port.address.client
        self.port = port.address.port
        clientName = port.clientName
        portName = port.portName
        takes = port.isWritable
        sends = port.isReadable
    }

    /// The sequencer's ports that can send or receive.
    package static func all(_ ports: [PortDescription]) -> [Port] { ports.filter(\.isUsable).map(Port.init) }
}

extension PortDescription {
    /// Whether it can send or receive; client 0 is the sequencer itself.
    package var isUsable: Bool { address.client != 0 && (isReadable || isWritable) }
}
