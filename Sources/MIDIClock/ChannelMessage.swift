/// A channel message of a button, pedal or pad (MIDI 1.0, Channel Voice).
///
/// ```swift
/// let pedal = ChannelMessage(.controller, 64, channel: 1, value: 127)
/// assert(pedal.number == 64)
/// ```
public struct ChannelMessage: Hashable, Sendable, BitwiseCopyable {
    public var kind: Kind
    /// 1 to 16.
    public var channel: Int
    /// The first data byte, 0 to 127.
    public var number: Int
    /// A note's velocity or a controller's value, 0 to 127; 127 for a program, which has none.
    public var value: Int

    public init(_ kind: Kind, _ number: Int, channel: Int, value: Int = 127) {
        self.kind = kind
        self.number = number
        self.channel = channel
        self.value = value
    }

    /// The kinds of messages.
    ///
    /// ```swift
    /// assert(ChannelMessage.Kind(rawValue: "note") == .note)
    /// ```
    public enum Kind: String, CaseIterable, Hashable, Sendable, BitwiseCopyable {
        /// Note On; with a velocity of 0 it means Note Off.
        case note
        /// Control Change.
        case controller
        /// Program Change.
        case program
    }
}
