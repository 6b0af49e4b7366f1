package import BeatTime
internal import CALSA
package import MIDIClock

/// The client that hears buttons and pedals at its port `Controls`; one thread uses it.
///
/// A client of its own, so that whatever a keyboard pours out never takes the place of a clock's ticks.
package final class ControlInput {
    private let port: StampedPort

    /// Opens the client and its port.
    ///
    /// - Parameter name: as other programs list the client.
    /// - Throws: with the code -ENOENT where the kernel has no sequencer.
    package init(name: String) throws(ALSAError) {
        port = try StampedPort(name: name, portName: "Controls")
    }

    /// The port that others subscribe.
    package var address: PortAddress { port.address }

    /// Readable when something has come.
    package var descriptor: Int32 { port.descriptor }

    /// Takes what has come, as much as is read at once; ``descriptor`` stays readable if there is more.
    ///
    /// What was lost in a flood is a press that did nothing, and nobody can say more of it.
    ///
    /// - Returns: the messages in the order they came.
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

    /// A message as MIDI has it; other programs may put anything into an event.
    private static func message(
        _ kind: ChannelMessage.Kind, _ number: Int, channel: UInt8, value: Int
    ) -> ChannelMessage? {
        guard (0...127).contains(number), (0...127).contains(value), channel < 16 else { return nil }
        return ChannelMessage(kind, number, channel: Int(channel) + 1, value: value)
    }
}

/// A message of some button or pedal, and when it came.
package struct ControlArrival: Hashable, Sendable, BitwiseCopyable {
    package var message: ChannelMessage
    /// When it came, as the kernel stamped it where it can.
    package var time: HostTime
    package var source: PortAddress

    package init(_ message: ChannelMessage, at time: HostTime, from source: PortAddress) {
        self.message = message
        self.time = time
        self.source = source
    }
}
