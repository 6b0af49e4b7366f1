internal import CALSA
internal import Glibc

/// The output ports of a client, made and deleted without allocating: what the kernel is told of them lies ready.
///
/// Each is named by whoever decides that it is to be, while it does not exist; the thread that uses the client then
/// makes it.
struct SequencerPorts: @unchecked Sendable, BitwiseCopyable {
    // Safe because the two threads never touch the same port's memory: one writes it while the port does not exist,
    // the other reads it once told.
    private let handle: OpaquePointer
    private let blueprints: UnsafeMutablePointer<OpaquePointer>
    private let wires: UnsafeMutablePointer<OpaquePointer>
    /// Those that exist, one bit each.
    private(set) var existing: UInt64 = 0
    /// Those that the kernel has refused to make, until they are deleted.
    private(set) var refused: UInt64 = 0

    /// How many there can be: the bits of a word.
    static let capacity = 64

    /// Prepares the memory.
    ///
    /// - Parameters:
    ///   - handle: the client's.
    ///   - client: its number.
    /// - Throws: when there is no memory.
    init(_ handle: OpaquePointer, client: Int32) throws(ALSAError) {
        self.handle = handle
        blueprints = .allocate(capacity: Self.capacity)
        wires = .allocate(capacity: Self.capacity)
        for port in 0..<Self.capacity {
            var (blueprint, wire): (OpaquePointer?, OpaquePointer?)
            snd_seq_port_info_malloc(&blueprint)
            snd_seq_port_subscribe_malloc(&wire)
            guard let blueprint, let wire else { throw ALSAError(operation: "malloc", code: -ENOMEM) }
            snd_seq_port_info_set_port(blueprint, Int32(port))
            snd_seq_port_info_set_port_specified(blueprint, 1)
            // Writable, though nobody can subscribe to write: there the kernel says what a receiver refused.
            snd_seq_port_info_set_capability(
                blueprint, UInt32(SND_SEQ_PORT_CAP_READ | SND_SEQ_PORT_CAP_SUBS_READ | SND_SEQ_PORT_CAP_WRITE))
            snd_seq_port_info_set_type(
                blueprint, UInt32(SND_SEQ_PORT_TYPE_MIDI_GENERIC | SND_SEQ_PORT_TYPE_APPLICATION))
            var sender = snd_seq_addr_t(client: UInt8(clamping: client), port: UInt8(port))
            var witness = snd_seq_addr_t(client: UInt8(clamping: client), port: SequencerSender.witness)
            snd_seq_port_subscribe_set_sender(wire, &sender)
            snd_seq_port_subscribe_set_dest(wire, &witness)
            (blueprints + port).initialize(to: blueprint)
            (wires + port).initialize(to: wire)
        }
    }

    func free() {
        for port in 0..<Self.capacity {
            snd_seq_port_info_free(blueprints[port])
            snd_seq_port_subscribe_free(wires[port])
        }
        blueprints.deallocate()
        wires.deallocate()
    }

    /// Says what a port that does not exist will be called.
    func name(_ port: Int, _ name: String) { snd_seq_port_info_set_name(blueprints[port], name) }

    /// Makes a port that others can subscribe to.
    ///
    /// - Parameters:
    ///   - port: its number, which has been named.
    ///   - isWitnessed: whether the witness is to hear it.
    mutating func make(_ port: UInt8, isWitnessed: Bool) {
        let bit = UInt64(1) << UInt64(port)
        // First of all subscribers: whoever else hears a message, the witness has heard it before.
        guard snd_seq_create_port(handle, blueprints[Int(port)]) >= 0,
            !isWitnessed || snd_seq_subscribe_port(handle, wires[Int(port)]) >= 0
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
