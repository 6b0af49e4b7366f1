public import MIDIClock

/// A button, pedal or pad that does what a command does.
public struct Control: Hashable, Sendable {
    /// The port it is heard at, by name, by part of it or by number.
    public var port: Placed<String>
    public var message: Message
    public var verb: Verb

    public init(port: Placed<String>, message: Message, verb: Verb) {
        self.port = port
        self.message = message
        self.verb = verb
    }

    /// The MIDI message that it sends.
    public struct Message: Hashable, Sendable {
        public var kind: Kind
        /// The number in its first data byte, 0 to 127.
        public var number: Int
        /// 1 to 16; nil hears all.
        public var channel: Int?

        public init(_ kind: Kind, _ number: Int, channel: Int? = nil) {
            self.kind = kind
            self.number = number
            self.channel = channel
        }

        public typealias Kind = ChannelMessage.Kind

        /// Whether a message is this one, whatever its value.
        public func matches(_ message: ChannelMessage) -> Bool {
            kind == message.kind && number == message.number && channel.map { $0 == message.channel } != false
        }
    }

    /// What is done.
    public enum Verb: String, CaseIterable, Hashable, Sendable {
        case play
        case stop
        /// Stops what plays and plays what is stopped.
        case togglePlay = "toggle-play"
        case tap
        case nudgeEarlier = "nudge-earlier"
        case nudgeLater = "nudge-later"
        case realign
        /// Turns Link off when it is on, and on when it is off.
        case toggleLink = "toggle-link"
        case linkOn = "link-on"
        case linkOff = "link-off"
    }
}
