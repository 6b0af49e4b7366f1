internal import CALSA
internal import Glibc

/// The client that receives other machines' clocks at its port `Clock In`.
///
/// A client of its own, because all ports of a client share one input queue and its calls exclude one another. Owned by
/// one thread, which polls ``descriptor``.
public struct SequencerInput: ~Copyable, Sendable {
    // Safe to hand over: libasound ties a handle to no thread, and a value that cannot be copied has one user.
    private nonisolated(unsafe) let handle: OpaquePointer
    /// Readable when something has come.
    public let descriptor: Int32

    /// What came, counted by kind.
    public struct Counts: Hashable, Sendable {
        /// Timing Clocks.
        public var ticks = 0
        /// Start, Continue, Stop, Song Position Pointer.
        public var transport = 0

        public init(ticks: Int = 0, transport: Int = 0) {
            self.ticks = ticks
            self.transport = transport
        }
    }

    private init(handle: OpaquePointer, descriptor: Int32) {
        self.handle = handle
        self.descriptor = descriptor
    }

    deinit { snd_seq_close(handle) }

    /// Opens the client and its port.
    ///
    /// - Parameters:
    ///   - name: as other programs list the client.
    ///   - portName: as they list the port.
    /// - Returns: the client; it is closed when the value ends.
    /// - Throws: with the code -ENOENT where the kernel has no sequencer.
    public static func open(name: String, portName: String) throws(ALSAError) -> SequencerInput {
        let handle = try openSequencer(name: name, streams: SND_SEQ_OPEN_INPUT)
        var poller = pollfd()
        snd_seq_poll_descriptors(handle, &poller, 1, Int16(POLLIN))
        let input = SequencerInput(handle: handle, descriptor: poller.fd)
        try check(
            "snd_seq_create_simple_port",
            snd_seq_create_simple_port(
                handle, portName, UInt32(SND_SEQ_PORT_CAP_WRITE | SND_SEQ_PORT_CAP_SUBS_WRITE),
                UInt32(SND_SEQ_PORT_TYPE_MIDI_GENERIC | SND_SEQ_PORT_TYPE_APPLICATION)))
        return input
    }

    /// Takes everything that has come.
    public func take() -> Counts {
        var counts = Counts()
        while true {
            var event: UnsafeMutablePointer<snd_seq_event_t>?
            let result = snd_seq_event_input(handle, &event)
            // An overflow has emptied the queue; what is left is taken at the next turn.
            guard result >= 0, let event else { return counts }
            switch snd_seq_event_type(rawValue: UInt32(event.pointee.type)) {
            case SND_SEQ_EVENT_CLOCK: counts.ticks += 1
            case SND_SEQ_EVENT_START, SND_SEQ_EVENT_CONTINUE, SND_SEQ_EVENT_STOP, SND_SEQ_EVENT_SONGPOS:
                counts.transport += 1
            default: break
            }
        }
    }
}
