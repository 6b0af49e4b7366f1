internal import CALSA
internal import Glibc
internal import RealTime

/// The sequencer client whose ports send the clocks.
///
/// Its queue sends messages at their time, even while the output thread is held up. Besides the outputs it has one
/// input, the witness: a private port that receives everything the outputs send. Once the output thread has taken the
/// sender, only that thread uses the client. That thread also creates and deletes the ports. The kernel runs only one
/// call per client at a time, so another thread's call could delay the clock.
package final class SequencerOutput: @unchecked Sendable {
    // Safe because one thread sets it up and then hands the sender to the output thread for good. A port's name is set
    // only while the port does not exist.
    private let handle: SequencerHandle
    /// The client's number.
    package let client: Int
    private let blueprints: PageArray<PortBlueprint>
    /// The sender, until the output thread takes it.
    private var sender: SequencerSender?
    /// Why no queue can send for the output thread; nil if one can.
    package private(set) var queueFailure: QueueFailure?

    /// Event slots for messages waiting in the queue, and for those the witness has received but nobody has read yet.
    private static let pools = (output: 600, input: 2000)

    /// Opens the client.
    ///
    /// - Parameter name: the client's name, which other programs show.
    /// - Throws: -ENOENT if the kernel has no sequencer.
    package init(name: String) throws(ALSAError) {
        handle = try SequencerHandle.open(name: name)
        let number = snd_seq_client_id(handle.pointer)
        client = Int(number)
        blueprints = try PageArray(count: SequencerPorts.capacity) { port throws(ALSAError) in
            try PortBlueprint(port, client: number)
        }
        sender = try SequencerSender(handle.pointer, client: number, UnsafePointer(blueprints.start))
        do throws(QueueFailure) {
            try makeQueues()
        } catch {
            queueFailure = error
            sender?.queue = nil
        }
    }

    /// Whether a sufficiently precise queue can send for the output thread.
    package var hasQueue: Bool { queueFailure == nil }

    /// Sets the name of a port that does not exist yet.
    ///
    /// Any thread may call it, but not two at the same time.
    ///
    /// - Parameters:
    ///   - port: its number, 0 to 63.
    ///   - name: the port's name, which other programs show.
    package func name(port: Int, _ name: String) { blueprints[port].name(name) }

    /// Creates a port that already has a name.
    ///
    /// If the kernel refuses, the port is one of the sender's `refusedPorts`. Call it only before the output thread
    /// takes the sender; that thread then creates ports itself.
    package func makePort(_ port: Int) { sender?.setPort(UInt8(clamping: port), exists: true) }

    /// The existing ports, one bit each; 0 once the sender is taken.
    package var existingPorts: UInt64 { sender?.existingPorts() ?? 0 }

    /// Hands over the sender, permanently.
    ///
    /// - Returns: nil if it was already taken.
    package func takeSender() -> SequencerSender? { sender.take() }

    /// Creates the queue and the witness; then checks that the queue is precise enough.
    private func makeQueues() throws(QueueFailure) {
        try QueueFailure.at(.eventPools) { () throws(ALSAError) in
            try check(
                "snd_seq_set_client_pool_output",
                snd_seq_set_client_pool_output(handle.pointer, Self.pools.output))
            try check(
                "snd_seq_set_client_pool_input", snd_seq_set_client_pool_input(handle.pointer, Self.pools.input))
        }
        try QueueFailure.at(.filter) { () throws(ALSAError) in
            for type in SequencerSender.eventTypes.map({ Int32($0.rawValue) }) {
                try check("snd_seq_set_client_event_filter", snd_seq_set_client_event_filter(handle.pointer, type))
            }
            try check("snd_seq_set_client_info", reportRefusals())
        }
        let queue = try makeFineQueue()
        sender?.queue = queue
        try QueueFailure.at(.witness) { () throws(ALSAError) in try makeWitness(queue) }
        try sender?.tryQueue()
    }

    /// Makes the kernel report queued messages that a receiver refused.
    private func reportRefusals() -> Int32 {
        var info: OpaquePointer?
        guard snd_seq_client_info_malloc(&info) == 0 else { return -ENOMEM }
        defer { snd_seq_client_info_free(info) }
        snd_seq_get_client_info(handle.pointer, info)
        snd_seq_client_info_set_error_bounce(info, 1)
        return snd_seq_set_client_info(handle.pointer, info)
    }

    private func makeFineQueue() throws(QueueFailure) -> Int32 {
        let queue = try QueueFailure.at(.queue) { () throws(ALSAError) in
            try check("snd_seq_alloc_queue", snd_seq_alloc_queue(handle.pointer))
        }
        try QueueFailure.at(.timer) { () throws(ALSAError) in
            try SequencerTimer.highResolution.drive(
                queue, of: handle.pointer, frequency: UInt32(1_000_000_000 / SequencerSender.queuePeriod))
        }
        return queue
    }

    private func makeWitness(_ queue: Int32) throws(ALSAError) {
        var port: OpaquePointer?
        try check("snd_seq_port_info_malloc", snd_seq_port_info_malloc(&port))
        defer { snd_seq_port_info_free(port) }
        snd_seq_port_info_set_port(port, Int32(SequencerSender.witness))
        snd_seq_port_info_set_port_specified(port, 1)
        snd_seq_port_info_set_name(port, "Witness")
        // Without SUBS_WRITE, no other client can connect itself to the port. With NO_EXPORT, programs such as aconnect
        // can neither list nor connect it.
        snd_seq_port_info_set_capability(port, UInt32(SND_SEQ_PORT_CAP_WRITE | SND_SEQ_PORT_CAP_NO_EXPORT))
        snd_seq_port_info_set_type(port, UInt32(SND_SEQ_PORT_TYPE_APPLICATION))
        snd_seq_port_info_set_timestamping(port, 1)
        snd_seq_port_info_set_timestamp_real(port, 1)
        snd_seq_port_info_set_timestamp_queue(port, queue)
        try check("snd_seq_create_port", snd_seq_create_port(handle.pointer, port))
    }
}
