package import BeatTime
internal import CALSA
package import MIDIClock

/// The client that receives buttons and pedals at its port `Controls`; for one thread.
///
/// It is a separate client, so that a flood from a keyboard never displaces a clock's ticks.
package final class ControlInput {
    private let port: StampedPort

    /// Opens the client and its port.
    ///
    /// - Parameter name: of the client, as other programs list it.
    /// - Throws: -ENOENT if the kernel has no sequencer.
    package init(name: String) throws(ALSAError) {
        port = try StampedPort(name: name, portName: "Controls")
    }

    /// The port that others subscribe to.
    package var address: PortAddress { port.address }

    /// Readable when messages have arrived.
    package var descriptor: Int32 { port.descriptor }

    /// Reads one batch of messages; ``descriptor`` stays readable if there are more.
    ///
    /// Messages lost in a flood are ignored: those presses have no effect.
    ///
    /// - Returns: the messages in order of arrival.
    package func take() -> [ControlArrival] {
        var arrivals: [ControlArrival] = []
        port.take { event, time in
            guard let event, let message = Self.message(of: event) else { return }
            let source = PortAddress(client: Int(event.source.client), port: Int(event.source.port))
            arrivals.append(ControlArrival(message, at: time, from: source))
        }
        return arrivals
    }

    private static func message(of event: snd_seq_event_t) -> ChannelMessage? {
        let (note, control) = (event.data.note, event.data.control)
        switch snd_seq_event_type(rawValue: UInt32(event.type)) {
        case SND_SEQ_EVENT_NOTEON, SND_SEQ_EVENT_NOTE:
            return message(.note, Int(note.note), channel: note.channel, value: Int(note.velocity))
        case SND_SEQ_EVENT_CONTROLLER:
            return message(.controller, Int(control.param), channel: control.channel, value: Int(control.value))
        case SND_SEQ_EVENT_PGMCHANGE:
            return message(.program, Int(control.value), channel: control.channel, value: 127)
        default: return nil
        }
    }

    /// The message of an event, limited to MIDI's ranges: other programs may put anything into an event.
    private static func message(
        _ kind: ChannelMessage.Kind, _ number: Int, channel: UInt8, value: Int
    ) -> ChannelMessage? {
        guard (0...127).contains(number), (0...127).contains(value), channel < 16 else { return nil }
        return ChannelMessage(kind, number, channel: Int(channel) + 1, value: value)
    }
}

/// A message of a button or pedal, with its time of arrival.
package struct ControlArrival: Hashable, Sendable, BitwiseCopyable {
    package var message: ChannelMessage
    /// When it arrived, by the kernel's stamp if possible.
    package var time: HostTime
    package var source: PortAddress

    package init(_ message: ChannelMessage, at time: HostTime, from source: PortAddress) {
        self.message = message
        self.time = time
        self.source = source
    }
}
