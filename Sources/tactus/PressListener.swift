import ALSASequencer
import ConfigurationFiles
import Gateway
import Glibc
import MIDIClock
import RealTime

/// Waits for a press of a button on any device at this machine's sequencer, including newly connected ones.
struct PressListener {
    private let input: ControlInput
    private let control: SequencerControl
    private let tell: (String) -> Void
    private var heard = HeardPorts()
    private var presses = PressDetector()

    /// Starts listening.
    ///
    /// - Parameter tell: receives lines for people: the ports listened to, and their changes.
    /// - Throws: when there is no sequencer, or no permission to use it.
    init(tell: @escaping (String) -> Void) throws(Failure) {
        (input, control) = try openSequencer { () throws(ALSAError) in
            (try ControlInput(name: "Tactus Learn"), try SequencerControl(name: "Tactus Learn Control"))
        }
        self.tell = tell
        _ = listen()
        tell(heard.line)
    }

    /// Waits for a press.
    ///
    /// - Parameters:
    ///   - verb: the button's action.
    ///   - seconds: longest wait.
    /// - Returns: the control.
    /// - Throws: when nothing is pressed.
    mutating func control(doing verb: Control.Verb, within seconds: Int) throws(Failure) -> Control {
        let end = MonotonicTime.now().advanced(byNanoseconds: Int64(seconds) * 1_000_000_000)
        while MonotonicTime.now() < end {
            var descriptors = [input.descriptor, self.control.descriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            poll(&descriptors, until: end)
            for arrival in input.take() where presses.isPress(arrival) {
                guard let port = heard.ports.first(where: { $0.address == arrival.source }) else { continue }
                let (name, message) = (port.plainestName(among: heard.ports), arrival.message)
                return Control(
                    port: Placed(name, at: Place(file: "", line: 1, column: 1)),
                    message: Control.Message(message.kind, message.number, channel: message.channel), verb: verb)
            }
            guard self.control.takeAnnouncements() else { continue }
            let changes = listen()
            for change in changes { tell(change) }
            if !changes.isEmpty { tell(heard.line) }
        }
        throw Failure(.unavailable, "nothing was pressed in \(seconds) s; 'aseqdump -p PORT' shows what a port sends")
    }

    /// Subscribes the ports that exist now.
    ///
    /// A port in exclusive use by another program is skipped, because its presses do not arrive here.
    private mutating func listen() -> [String] {
        heard.update(control.ports()) { [control, input] port in
            (try? control.subscribe(input.address, to: port)) != nil
        }
    }
}
