import ALSASequencer
import Gateway

/// The port that `tactus monitor` measures.
enum MonitoredPort: Hashable, Sendable {
    /// A port of our own, to which the user can connect any other port.
    case own
    /// A sequencer port, by number or name.
    case sequencer(String)
    /// A raw MIDI device, `hw:CARD,DEVICE`.
    case device(String)
    /// A device node, FIFO or serial line.
    case line(path: String, bitsPerSecond: Int)

    init(argument: String) throws(BadArgument) {
        guard !argument.hasPrefix("hw:") else {
            self = .device(try clockInDevice(argument: argument))
            return
        }
        switch try Destination(argument: argument) {
        case .card: throw BadArgument("a sound card's output is heard with --listen, not here")
        case .raw(let path, let bitsPerSecond): self = .line(path: path, bitsPerSecond: bitsPerSecond)
        case .name(let name): self = .sequencer(name)
        case .number(let address): self = .sequencer(address.description)
        case .virtual, .device:
            throw BadArgument("for a port that others subscribe to, leave the port out: 'tactus monitor'")
        }
    }
}
