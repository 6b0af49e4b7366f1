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
        /// When it last went down, or up, or was pressed again without a release.
        var moved: HostTime?
    }

    /// What a button has done.
    package enum Press: Hashable, Sendable {
        /// It was pressed, or has reported a high value.
        case down
        /// It was released; one that alternates was pressed.
        case up
    }

    /// Shortest time between two moves of a button, in microseconds; anything sooner is contact bounce.
    private static let bounce: Int64 = 50_000

    package init() {}

    /// What a message means.
    ///
    /// A note goes down with a velocity, and up without one. A controller does so when its value passes the middle. It also
    /// goes down when it repeats the same high value: some pedals send nothing when released. Each program change goes down.
    /// The same program again is not bounce if another one has come between: the last one counts.
    ///
    /// - Parameter arrival: every message of the button, in order.
    /// - Returns: nil if it means nothing, as contact bounce does.
    package mutating func press(_ arrival: ControlArrival) -> Press? {
        let message = arrival.message
        // A channel has one program at a time; its number is what changes.
        let (number, value) = message.kind == .program ? (0, message.number) : (message.number, message.value)
        let button = Button(source: arrival.source, kind: message.kind, channel: message.channel, number: number)
        var state = states[button] ?? State()
        defer { states[button] = state }
        let before = state.value
        state.value = value
        let press: Press
        switch message.kind {
        case .program, .note: press = message.isDown ? .down : .up
        case .controller:
            press = message.isDown ? .down : .up
            let wasDown = before.map { $0 >= ChannelMessage.down }
            let isRepeated = press == .down && before == message.value
            guard wasDown != (press == .down) || isRepeated else { return nil }
        }
        let moved = state.moved
        // The first message of a pedal may only tell where it stands.
        if before != nil || press == .down { state.moved = arrival.time }
        if message.kind == .program, before != value { return press }
        if let moved, (0..<Self.bounce).contains(moved.microseconds(to: arrival.time)) { return nil }
        return press
    }
}

extension ChannelMessage {
    /// Controller values from here on mean that the pedal is down.
    fileprivate static let down = 64

    /// Whether the button that sent it is down by then.
    package var isDown: Bool {
        switch kind {
        case .program: true
        case .note: value > 0
        case .controller: value >= Self.down
        }
    }
}
