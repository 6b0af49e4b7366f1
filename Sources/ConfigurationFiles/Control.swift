package import MIDIClock

/// A button, pedal or pad that does what a command does.
package struct Control: Hashable, Sendable {
    /// The port it is heard at, by name, by part of it or by number.
    package var port: Placed<String>
    package var message: Message
    package var verb: Verb

    package init(port: Placed<String>, message: Message, verb: Verb) {
        self.port = port
        self.message = message
        self.verb = verb
    }

    /// The MIDI message that it sends.
    package struct Message: Hashable, Sendable {
        package var kind: Kind
        /// The number in its first data byte, 0 to 127.
        package var number: Int
        /// 1 to 16; nil hears all.
        package var channel: Int?

        package init(_ kind: Kind, _ number: Int, channel: Int? = nil) {
            self.kind = kind
            self.number = number
            self.channel = channel
        }

        package typealias Kind = ChannelMessage.Kind

        /// Whether a message is this one, whatever its value.
        package func matches(_ message: ChannelMessage) -> Bool {
            kind == message.kind && number == message.number && channel.map { $0 == message.channel } != false
        }
    }

    /// What is done.
    package enum Verb: String, CaseIterable, Hashable, Sendable {
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
