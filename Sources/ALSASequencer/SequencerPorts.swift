internal import CALSA

/// Prepared parameters for creating an output port.
///
/// Two threads use it, never at the same time: one names the port before it exists, the other then creates it.
struct PortBlueprint: ~Copyable {
    fileprivate let info: ALSAStructure
    /// The subscription that lets the witness hear the port.
    fileprivate let subscription: ALSAStructure

    /// Prepares to create a port.
    ///
    /// - Parameters:
    ///   - port: its number.
    ///   - client: the number of its client.
    /// - Throws: when there is no memory.
    init(_ port: Int, client: Int32) throws(ALSAError) {
        let info = try ALSAStructure(snd_seq_port_info_malloc, snd_seq_port_info_free)
        let subscription = try ALSAStructure(snd_seq_port_subscribe_malloc, snd_seq_port_subscribe_free)
        snd_seq_port_info_set_port(info.pointer, Int32(port))
        snd_seq_port_info_set_port_specified(info.pointer, 1)
        // Writable, though nobody can subscribe to write: the kernel returns refused messages there.
        snd_seq_port_info_set_capability(
            info.pointer, UInt32(SND_SEQ_PORT_CAP_READ | SND_SEQ_PORT_CAP_SUBS_READ | SND_SEQ_PORT_CAP_WRITE))
        snd_seq_port_info_set_type(
            info.pointer, UInt32(SND_SEQ_PORT_TYPE_MIDI_GENERIC | SND_SEQ_PORT_TYPE_APPLICATION))
        var sender = snd_seq_addr_t(client: UInt8(clamping: client), port: UInt8(port))
        var witness = snd_seq_addr_t(client: UInt8(clamping: client), port: SequencerSender.witness)
        snd_seq_port_subscribe_set_sender(subscription.pointer, &sender)
        snd_seq_port_subscribe_set_dest(subscription.pointer, &witness)
        self.info = info
        self.subscription = subscription
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
    /// - Parameters:
    ///   - port: its number, already named.
    ///   - isWitnessed: whether the witness should hear it.
    mutating func make(_ port: UInt8, isWitnessed: Bool) {
        let bit = UInt64(1) << UInt64(port)
        // Subscribed first, so that the witness hears each message before anyone else.
        guard snd_seq_create_port(handle, blueprints[Int(port)].info.pointer) >= 0,
            !isWitnessed || snd_seq_subscribe_port(handle, blueprints[Int(port)].subscription.pointer) >= 0
        else {
            snd_seq_delete_port(handle, Int32(port))
            refused |= bit
            return
        }
        existing |= bit
    }

    /// Deletes a port, or forgets that it was refused.
    mutating func delete(_ port: UInt8) {
        let bit = UInt64(1) << UInt64(port)
        if existing & bit != 0 { snd_seq_delete_port(handle, Int32(port)) }
        existing &= ~bit
        refused &= ~bit
    }
}
