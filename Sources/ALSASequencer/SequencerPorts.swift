internal import CALSA

/// What the kernel is told of an output port when it is made.
///
/// Two threads use it, never at the same time: one names the port while it does not exist, the other makes it once told.
struct PortBlueprint: ~Copyable {
    fileprivate let info: ALSAStructure
    /// The subscription by which the witness hears the port.
    fileprivate let wire: ALSAStructure

    /// Prepares to make a port.
    ///
    /// - Parameters:
    ///   - port: its number.
    ///   - client: the number of its client.
    /// - Throws: when there is no memory.
    init(_ port: Int, client: Int32) throws(ALSAError) {
        let info = try ALSAStructure(snd_seq_port_info_malloc, snd_seq_port_info_free)
        let wire = try ALSAStructure(snd_seq_port_subscribe_malloc, snd_seq_port_subscribe_free)
        snd_seq_port_info_set_port(info.pointer, Int32(port))
        snd_seq_port_info_set_port_specified(info.pointer, 1)
        // Writable, though nobody can subscribe to write: there the kernel says what a receiver refused.
        snd_seq_port_info_set_capability(
            info.pointer, UInt32(SND_SEQ_PORT_CAP_READ | SND_SEQ_PORT_CAP_SUBS_READ | SND_SEQ_PORT_CAP_WRITE))
        snd_seq_port_info_set_type(
            info.pointer, UInt32(SND_SEQ_PORT_TYPE_MIDI_GENERIC | SND_SEQ_PORT_TYPE_APPLICATION))
        var sender = snd_seq_addr_t(client: UInt8(clamping: client), port: UInt8(port))
        var witness = snd_seq_addr_t(client: UInt8(clamping: client), port: SequencerSender.witness)
        snd_seq_port_subscribe_set_sender(wire.pointer, &sender)
        snd_seq_port_subscribe_set_dest(wire.pointer, &witness)
        self.info = info
        self.wire = wire
    }

    /// Says what the port, which does not exist, will be called.
    func name(_ name: String) { snd_seq_port_info_set_name(info.pointer, name) }
}

/// The output ports of a client, made and deleted without allocating: what the kernel is told of them lies ready.
struct SequencerPorts: ~Copyable {
    private let handle: OpaquePointer
    private let blueprints: UnsafePointer<PortBlueprint>
    /// Those that exist, one bit each.
    private(set) var existing: UInt64 = 0
    /// Those that the kernel has refused to make, until they are deleted.
    private(set) var refused: UInt64 = 0

    /// How many there can be: the bits of a word.
    static let capacity = 64

    /// No ports yet.
    ///
    /// - Parameters:
    ///   - handle: the client's.
    ///   - blueprints: of all ports there can be; they have to outlive this value.
    init(_ handle: OpaquePointer, _ blueprints: UnsafePointer<PortBlueprint>) {
        self.handle = handle
        self.blueprints = blueprints
    }

    /// Makes a port that others can subscribe to.
    ///
    /// - Parameters:
    ///   - port: its number, which has been named.
    ///   - isWitnessed: whether the witness is to hear it.
    mutating func make(_ port: UInt8, isWitnessed: Bool) {
        let bit = UInt64(1) << UInt64(port)
        // First of all subscribers: whoever else hears a message, the witness has heard it before.
        guard snd_seq_create_port(handle, blueprints[Int(port)].info.pointer) >= 0,
            !isWitnessed || snd_seq_subscribe_port(handle, blueprints[Int(port)].wire.pointer) >= 0
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
