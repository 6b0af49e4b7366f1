package import ALSASequencer
internal import BeatTime
internal import MIDIClock

/// Tells the pressing of buttons and pedals from what else they send.
package struct PressDetector: Sendable {
    /// What is known of each, by where and what it sends.
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

    /// From here on a controller's value means that the pedal is down.
    private static let down = 64
    /// What follows a press sooner is its bouncing, in microseconds.
    private static let bounce: Int64 = 50_000

    package init() {}

    /// Whether a message is a press.
    ///
    /// A note is one if it begins, and so is every program. A controller is one when it rises past the middle, or when
    /// it says the very same again from there: pedals that tell nothing of their release do so.
    ///
    /// - Parameter arrival: every message of the button, in the order they came.
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
