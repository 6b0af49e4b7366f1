import ALSASequencer
import BeatTime
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

    /// Waits for a press, and for what tells whether the control alternates.
    ///
    /// - Parameters:
    ///   - verb: the button's action.
    ///   - tempo: the tempo that it sets, in thousandths of a BPM; nil with other actions.
    ///   - bars: until machines enter, or to count in; nil with other actions.
    ///   - seconds: longest wait.
    /// - Returns: the control.
    /// - Throws: when nothing is pressed.
    mutating func control(
        doing verb: Control.Verb, tempo: Int64?, bars: Int?, within seconds: Int
    ) throws(Failure) -> Control {
        let end = HostTime.now().advanced(byMicroseconds: Int64(seconds) * 1_000_000)
        var (learning, hasAsked) = (PressLearning(), false)
        while learning.learnt == nil, HostTime.now() < end {
            var descriptors = [input.descriptor, self.control.descriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            let wait = max(0, HostTime.now().microseconds(to: min(end, learning.deadline ?? end)))
            poll(&descriptors, until: MonotonicTime.now().advanced(byNanoseconds: wait * 1_000))
            for arrival in input.take() where heard.ports.contains(where: { $0.address == arrival.source }) {
                learning.take(arrival)
            }
            learning.timePassed(to: .now())
            if learning.asksAgain, !hasAsked {
                tell("press it once more")
                hasAsked = true
            }
            guard self.control.takeAnnouncements() else { continue }
            let changes = listen()
            for change in changes { tell(change) }
            if !changes.isEmpty { tell(heard.line) }
        }
        guard let arrival = learning.pressed, let port = heard.ports.first(where: { $0.address == arrival.source })
        else {
            throw Failure(
                .unavailable, "nothing was pressed in \(seconds) s; 'aseqdump -p PORT' shows what a port sends")
        }
        let (name, message) = (port.plainestName(among: heard.ports), arrival.message)
        guard !verb.isHeld || message.kind != .program else {
            throw Failure(
                .unavailable,
                "a program change does not tell how long it is held; press a button that sends a note or controller")
        }
        return Control(
            port: Placed(name, at: Place(file: "", line: 1, column: 1)),
            message: Control.Message(message.kind, message.number, channel: message.channel), verb: verb, tempo: tempo,
            bars: bars, isLatching: learning.learnt?.isLatching == true)
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
