internal import CALSA
public import MIDIClock

/// The client whose ports carry the clocks.
///
/// It only sends, so nothing can be sent to it and its input can never overflow. Ports are made before the output
/// thread starts; from then on that thread alone calls it, since a client's calls exclude one another in the kernel.
public final class SequencerOutput: @unchecked Sendable {
    // Safe because of the rule above: one thread sets up, then hands over to one thread for good.
    private let handle: OpaquePointer
    /// The client's number.
    public let client: Int

    /// Opens the client.
    ///
    /// - Parameter name: as other programs list it.
    /// - Throws: with the code -ENOENT where the kernel has no sequencer.
    public init(name: String) throws(ALSAError) {
        handle = try openSequencer(name: name, streams: SND_SEQ_OPEN_OUTPUT)
        client = Int(snd_seq_client_id(handle))
    }

    deinit { snd_seq_close(handle) }

    /// Makes a port that others can subscribe to.
    ///
    /// - Parameter name: as other programs list it.
    /// - Returns: the port's number.
    /// - Throws: when the client has no room for another port.
    public func makePort(name: String) throws(ALSAError) -> Int {
        Int(
            try check(
                "snd_seq_create_simple_port",
                snd_seq_create_simple_port(
                    handle, name, UInt32(SND_SEQ_PORT_CAP_READ | SND_SEQ_PORT_CAP_SUBS_READ),
                    UInt32(SND_SEQ_PORT_TYPE_MIDI_GENERIC | SND_SEQ_PORT_TYPE_APPLICATION))))
    }

    /// Delivers a message to all subscribers of a port, now; no allocation, no queue.
    ///
    /// - Returns: whether all subscribers took it.
    public func send(_ message: ClockMessage, from port: UInt8) -> Bool {
        var event = snd_seq_event_t()
        calsa_clear(&event)
        calsa_set_source(&event, port)
        calsa_set_subscribers(&event)
        calsa_set_direct(&event)
        switch message {
        case .timingClock: event.type = UInt8(SND_SEQ_EVENT_CLOCK.rawValue)
        case .start: event.type = UInt8(SND_SEQ_EVENT_START.rawValue)
        case .continue: event.type = UInt8(SND_SEQ_EVENT_CONTINUE.rawValue)
        case .stop: event.type = UInt8(SND_SEQ_EVENT_STOP.rawValue)
        case .songPosition(let beats):
            event.type = UInt8(SND_SEQ_EVENT_SONGPOS.rawValue)
            event.data.control.value = Int32(beats)
        }
        return snd_seq_event_output_direct(handle, &event) >= 0
    }
}

/// Opens a sequencer client that never blocks.
func openSequencer(name: String, streams: Int32) throws(ALSAError) -> OpaquePointer {
    var opened: OpaquePointer?
    try check("snd_seq_open", snd_seq_open(&opened, "default", streams, SND_SEQ_NONBLOCK))
    let handle = opened!  // a zero return means libasound has filled it in
    let result = snd_seq_set_client_name(handle, name)
    if result < 0 {
        snd_seq_close(handle)
        throw ALSAError(operation: "snd_seq_set_client_name", code: result)
    }
    return handle
}
