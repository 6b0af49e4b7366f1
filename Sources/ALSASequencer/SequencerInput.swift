internal import BeatTime
internal import CALSA
internal import MIDIClock

/// The client that receives other machines' clocks at its port `Clock In`.
///
/// It is a separate client, because all ports of a client share one input queue and its calls lock each other out. One
/// thread opens it and hands it over to the one that polls ``descriptor``.
package final class SequencerInput: @unchecked Sendable {
    // Safe because of the rule above.
    private let port: StampedPort

    /// Opens the client and its port.
    ///
    /// - Parameters:
    ///   - name: of the client, as other programs list it.
    ///   - portName: of the port.
    /// - Throws: -ENOENT if the kernel has no sequencer.
    package init(name: String, portName: String) throws(ALSAError) {
        port = try StampedPort(name: name, portName: portName)
    }

    /// The port that others subscribe to.
    package var address: PortAddress { port.address }

    /// Readable when messages have arrived.
    package var descriptor: Int32 { port.descriptor }

    /// Whether the kernel stamps messages; without a queue they are stamped when read.
    package var hasKernelStamps: Bool { port.hasKernelStamps }

    /// Reads one batch of messages; ``descriptor`` stays readable if there are more.
    ///
    /// - Parameter events: the new events are appended.
    package func take(into events: inout [ClockInputEvent]) {
        port.take { event, time in
            guard let event else { return events.append(.overflow) }
            guard let message = Self.message(of: event) else { return }
            let sender = ClockSource.port(client: event.source.client, port: event.source.port)
            events.append(.arrival(ClockArrival(message, at: time, from: sender)))
        }
    }

    private static func message(of event: snd_seq_event_t) -> ClockMessage? {
        switch snd_seq_event_type(rawValue: UInt32(event.type)) {
        case SND_SEQ_EVENT_CLOCK: return .timingClock
        case SND_SEQ_EVENT_START: return .start
        case SND_SEQ_EVENT_CONTINUE: return .continue
        case SND_SEQ_EVENT_STOP: return .stop
        case SND_SEQ_EVENT_SONGPOS:
            // 14 bits on a wire, but other programs may put anything into an event.
            let value = event.data.control.value
            return (0...0x3FFF).contains(value) ? .songPosition(UInt16(value)) : nil
        default: return nil
        }
    }
}
