internal import CALSA
internal import Glibc

/// Sends one message by a new queue to a port of our own, which is deleted again.
///
/// If the queue's timer is missing, the kernel silently uses a slower one. Waits some milliseconds.
struct QueueTrial {
    private let handle: OpaquePointer
    private let client: UInt8
    private let queue: Int32
    /// The port: the first number after the outputs.
    private static let port = UInt8(SequencerOutput.mostPorts)

    init(_ handle: OpaquePointer, client: Int, _ queue: Int32) {
        (self.handle, self.client, self.queue) = (handle, UInt8(clamping: client), queue)
    }

    /// Tries the queue.
    ///
    /// - Throws: what failed, or the queue's actual period if it is too long.
    func run() throws(QueueFailure) {
        try QueueFailure.at(.port) { () throws(ALSAError) in try makePort() }
        defer { snd_seq_delete_port(handle, Int32(Self.port)) }
        defer { try? control(SND_SEQ_EVENT_STOP) }
        try QueueFailure.at(.trial) { () throws(ALSAError) in
            try control(SND_SEQ_EVENT_START)
            try send()
        }
        var poller = pollfd()
        snd_seq_poll_descriptors(handle, &poller, 1, Int16(POLLIN))
        _ = poll(&poller, 1, 100)
        var event = snd_seq_event_t()
        let isHeard = read(poller.fd, &event, MemoryLayout<snd_seq_event_t>.stride) > 0
        guard isHeard else { throw .silent }
        let period = Int64(event.time.time.tv_sec) * 1_000_000_000 + Int64(event.time.time.tv_nsec)
        guard period < 2 * SequencerSender.queuePeriod else { throw .slow(period) }
    }

    private func makePort() throws(ALSAError) {
        let info = try ALSAStructure(snd_seq_port_info_malloc, snd_seq_port_info_free)
        snd_seq_port_info_set_port(info.pointer, Int32(Self.port))
        snd_seq_port_info_set_port_specified(info.pointer, 1)
        snd_seq_port_info_set_name(info.pointer, "Trial")
        // Without SUBS_WRITE, no other client can connect itself to the port. With NO_EXPORT, programs such as aconnect
        // can neither list nor connect it.
        snd_seq_port_info_set_capability(info.pointer, UInt32(SND_SEQ_PORT_CAP_WRITE | SND_SEQ_PORT_CAP_NO_EXPORT))
        snd_seq_port_info_set_type(info.pointer, UInt32(SND_SEQ_PORT_TYPE_APPLICATION))
        snd_seq_port_info_set_timestamping(info.pointer, 1)
        snd_seq_port_info_set_timestamp_real(info.pointer, 1)
        snd_seq_port_info_set_timestamp_queue(info.pointer, queue)
        try check("snd_seq_create_port", snd_seq_create_port(handle, info.pointer))
    }

    /// Sends a clock tick to the port at the end of the queue's first period.
    private func send() throws(ALSAError) {
        var event = snd_seq_event_t()
        calsa_clear(&event)
        calsa_set_source(&event, Self.port)
        event.dest = snd_seq_addr_t(client: client, port: Self.port)
        event.type = UInt8(SND_SEQ_EVENT_CLOCK.rawValue)
        calsa_schedule(&event, queue, SequencerSender.queuePeriod / 2)
        try write(event)
    }

    private func control(_ type: snd_seq_event_type) throws(ALSAError) {
        var event = snd_seq_event_t()
        calsa_control_queue(&event, queue, UInt8(type.rawValue))
        try write(event)
    }

    private func write(_ event: snd_seq_event_t) throws(ALSAError) {
        var event = event
        try check("snd_seq_event_output_direct", snd_seq_event_output_direct(handle, &event))
    }
}
