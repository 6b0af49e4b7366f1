package import ALSASequencer
internal import BeatTime
internal import MIDIClock

/// Recognizes presses of buttons and pedals among the messages they send.
package struct PressDetector: Sendable {
    /// The state of each button, by its source and message.
    private var states: [Button: State] = [:]

    private struct Button: Hashable {
        var source: PortAddress
        var kind: ChannelMessage.Kind
        var channel: Int
        var number: Int
    }

    private struct State {
        var value: Int?
        var pressed: HostTime?
    }

    /// Controller values from here on mean that the pedal is down.
    private static let down = 64
    /// Shortest time between two presses, in microseconds; anything sooner is contact bounce.
    private static let bounce: Int64 = 50_000

    package init() {}

    /// Whether a message is a press.
    ///
    /// Each Note On and each program change is one. A controller is one when it rises past the middle, or repeats the
    /// same high value: some pedals send nothing when released.
    ///
    /// - Parameter arrival: every message of the button, in order.
    /// - Returns: true once for each press.
    package mutating func isPress(_ arrival: ControlArrival) -> Bool {
        let message = arrival.message
        let button = Button(
            source: arrival.source, kind: message.kind, channel: message.channel, number: message.number)
        var state = states[button] ?? State()
        defer { states[button] = state }
        let before = state.value
        state.value = message.value
        switch message.kind {
        case .program: break
        case .note: guard message.value > 0 else { return false }
        case .controller:
            guard message.value >= Self.down else { return false }
            guard before.map({ $0 < Self.down || $0 == message.value }) != false else { return false }
        }
        if let pressed = state.pressed, (0..<Self.bounce).contains(pressed.microseconds(to: arrival.time)) {
            return false
        }
        state.pressed = arrival.time
        return true
    }
}
