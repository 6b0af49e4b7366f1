internal import BeatTime
internal import CALSA
internal import Glibc
internal import RealTime

/// A client with one receiving port; tells the time at which each event arrived.
///
/// One thread opens it and hands it over to the one that polls ``descriptor``. libasound does not tie a handle to a
/// thread, and there is one user at a time.
final class StampedPort {
    private let handle: SequencerHandle
    private var stamps: StampQueue?
    /// The port that others subscribe to.
    let address: PortAddress
    /// Readable when events have arrived.
    let descriptor: Int32
    /// Whether the kernel stamps events; without a queue they are stamped when read.
    let hasKernelStamps: Bool

    /// Events that the kernel stores until they are read: the most it allows, five seconds of clock at 999 BPM.
    ///
    /// Kinds of events are not filtered: a program whose notes are refused here might report an error.
    private static let pool = 2000

    /// Opens the client and its port.
    ///
    /// - Parameters:
    ///   - name: as other programs list the client.
    ///   - portName: as they list the port.
    /// - Throws: -ENOENT if the kernel has no sequencer.
    init(name: String, portName: String) throws(ALSAError) {
        handle = try SequencerHandle.open(name: name)
        // If that fails, the pool stays smaller and overflows earlier; an overflow is reported.
        snd_seq_set_client_pool_input(handle.pointer, Self.pool)
        stamps = try? StampQueue.start(handle.pointer)
        let queue = stamps?.number
        let port = try Self.makePort(handle.pointer, name: portName, queue: queue)
        hasKernelStamps = queue != nil
        address = PortAddress(client: Int(snd_seq_client_id(handle.pointer)), port: Int(port))
        var poller = pollfd()
        snd_seq_poll_descriptors(handle.pointer, &poller, 1, Int16(POLLIN))
        descriptor = poller.fd
    }

    private static func makePort(_ handle: OpaquePointer, name: String, queue: Int32?) throws(ALSAError) -> Int32 {
        var port: OpaquePointer?
        try check("snd_seq_port_info_malloc", snd_seq_port_info_malloc(&port))
        defer { snd_seq_port_info_free(port) }
        snd_seq_port_info_set_name(port, name)
        snd_seq_port_info_set_capability(port, UInt32(SND_SEQ_PORT_CAP_WRITE | SND_SEQ_PORT_CAP_SUBS_WRITE))
        snd_seq_port_info_set_type(port, UInt32(SND_SEQ_PORT_TYPE_MIDI_GENERIC | SND_SEQ_PORT_TYPE_APPLICATION))
        if let queue {
            snd_seq_port_info_set_timestamping(port, 1)
            snd_seq_port_info_set_timestamp_real(port, 1)
            snd_seq_port_info_set_timestamp_queue(port, queue)
        }
        try check("snd_seq_create_port", snd_seq_create_port(handle, port))
        return snd_seq_port_info_get_port(port)
    }

    /// Reads one batch of events; ``descriptor`` stays readable if there are more.
    ///
    /// - Parameter body: receives each event with its time, or nil if an unknown number of events was lost.
    func take(_ body: (snd_seq_event_t?, HostTime) -> Void) {
        var event: UnsafeMutablePointer<snd_seq_event_t>?
        var result = snd_seq_event_input(handle.pointer, &event)
        guard result != -EAGAIN else { return }
        stamps?.read(handle.pointer)
        let arrival = HostTime.now()
        while true {
            // A failure means that the kernel dropped events (-ENOSPC), or that an event's data is incomplete.
            let received = result >= 0 ? event?.pointee : nil
            body(received, received.flatMap { stamps?.hostTime(of: $0) } ?? arrival)
            guard snd_seq_event_input_pending(handle.pointer, 0) > 0 else { return }
            result = snd_seq_event_input(handle.pointer, &event)
        }
    }
}
