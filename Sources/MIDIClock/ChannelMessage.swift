/// A message of one of the sixteen channels that a button, pedal or pad may send (MIDI 1.0, Channel Voice).
public struct ChannelMessage: Hashable, Sendable, BitwiseCopyable {
    public var kind: Kind
    /// 1 to 16.
    public var channel: Int
    /// The number in its first data byte, 0 to 127.
    public var number: Int
    /// A note's velocity or a controller's value, 0 to 127; 127 for a program, which has none.
    public var value: Int

    public init(_ kind: Kind, _ number: Int, channel: Int, value: Int = 127) {
        self.kind = kind
        self.number = number
        self.channel = channel
        self.value = value
    }

    /// Which messages there are.
    public enum Kind: String, CaseIterable, Hashable, Sendable, BitwiseCopyable {
        /// Note On, or with a velocity of 0 Note Off.
        case note
        /// Control Change.
        case controller
        /// Program Change.
        case program
    }
}
