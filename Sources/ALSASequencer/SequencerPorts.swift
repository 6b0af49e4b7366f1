internal import CALSA

/// Prepared parameters for creating an output port.
///
/// Two threads use it, never at the same time: one names the port before it exists, the other then creates it.
struct PortBlueprint: ~Copyable {
    fileprivate let info: ALSAStructure

    /// Prepares to create a port.
    ///
    /// - Parameter port: its number.
    /// - Throws: when there is no memory.
    init(_ port: Int) throws(ALSAError) {
        let info = try ALSAStructure(snd_seq_port_info_malloc, snd_seq_port_info_free)
        snd_seq_port_info_set_port(info.pointer, Int32(port))
        snd_seq_port_info_set_port_specified(info.pointer, 1)
        // Writable, though nobody can subscribe to write: the kernel returns refused messages there.
        snd_seq_port_info_set_capability(
            info.pointer, UInt32(SND_SEQ_PORT_CAP_READ | SND_SEQ_PORT_CAP_SUBS_READ | SND_SEQ_PORT_CAP_WRITE))
        snd_seq_port_info_set_type(
            info.pointer, UInt32(SND_SEQ_PORT_TYPE_MIDI_GENERIC | SND_SEQ_PORT_TYPE_APPLICATION))
        self.info = info
    }

    /// Sets the name of the port, which must not exist yet.
    func name(_ name: String) { snd_seq_port_info_set_name(info.pointer, name) }
}

/// The output ports of a client, created and deleted without allocating.
struct SequencerPorts: ~Copyable {
    private let handle: OpaquePointer
    private let blueprints: UnsafePointer<PortBlueprint>
    /// The existing ports, one bit each.
    private(set) var existing: UInt64 = 0
    /// The ports that the kernel refused to create, one bit each, until they are deleted.
    private(set) var refused: UInt64 = 0

    /// Most ports: the number of bits of a `UInt64`.
    static let capacity = 64

    /// No ports yet.
    ///
    /// - Parameters:
    ///   - handle: of the client.
    ///   - blueprints: of all possible ports; they must outlive this value.
    init(_ handle: OpaquePointer, _ blueprints: UnsafePointer<PortBlueprint>) {
        self.handle = handle
        self.blueprints = blueprints
    }

    /// Creates a port that others can subscribe to.
    ///
    /// - Parameter port: its number, already named.
    mutating func make(_ port: UInt8) {
        let bit = UInt64(1) << UInt64(port)
        let isMade = snd_seq_create_port(handle, blueprints[Int(port)].info.pointer) >= 0
        if isMade { existing |= bit } else { refused |= bit }
    }

    /// Deletes a port, or forgets that it was refused.
    mutating func delete(_ port: UInt8) {
        let bit = UInt64(1) << UInt64(port)
        if existing & bit != 0 { snd_seq_delete_port(handle, Int32(port)) }
        existing &= ~bit
        refused &= ~bit
    }
}
