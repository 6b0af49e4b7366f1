package import MIDIClock

/// A button, pedal or pad that gives a command.
package struct Control: Hashable, Sendable {
    /// The port it sends to, by name, part of the name, or number.
    package var port: Placed<String>
    package var message: Message
    package var verb: Verb
    /// The tempo to set, in thousandths of a BPM; nil for other verbs, and where two controllers send it.
    package var tempo: Int64?
    /// The bars until machines enter, or that are counted in; nil for other verbs.
    package var bars: Int?
    /// The name of the output that is meant; nil for all.
    package var output: String?
    /// Whether it alternates: one press reports a high value, the next a low one.
    package var isLatching: Bool

    package init(
        port: Placed<String>, message: Message, verb: Verb, tempo: Int64? = nil, bars: Int? = nil,
        output: String? = nil, isLatching: Bool = false
    ) {
        self.port = port
        self.message = message
        self.verb = verb
        self.tempo = tempo
        self.bars = bars
        self.output = output
        self.isLatching = isLatching
    }

    /// The MIDI message that it sends.
    package struct Message: Hashable, Sendable {
        package var kind: Kind
        /// The first data byte, 0 to 127.
        package var number: Int
        /// The controller of the low part, if two of them send a number; ``number`` is then that of the high part.
        package var low: Int?
        /// The channel, 1 to 16; nil means any.
        package var channel: Int?

        package init(_ kind: Kind, _ number: Int, low: Int? = nil, channel: Int? = nil) {
            self.kind = kind
            self.number = number
            self.low = low
            self.channel = channel
        }

        package typealias Kind = ChannelMessage.Kind

        /// Whether a message is this one, with any value; of two controllers, either.
        package func matches(_ message: ChannelMessage) -> Bool {
            kind == message.kind && (number == message.number || low == message.number)
                && channel.map { $0 == message.channel } != false
        }
    }

    /// The action.
    package enum Verb: String, CaseIterable, Hashable, Sendable {
        case play
        case stop
        /// Toggles playing.
        case togglePlay = "toggle-play"
        /// Begins the song after some bars.
        case countIn = "count-in"
        case tap
        /// Sets a tempo.
        case tempo
        case tempoUp = "tempo-up"
        case tempoDown = "tempo-down"
        case halfTempo = "half-tempo"
        case doubleTempo = "double-tempo"
        case nudgeEarlier = "nudge-earlier"
        case nudgeLater = "nudge-later"
        case realign
        /// Mutes, or lets enter again.
        case mute
        /// Lets muted machines enter after some bars.
        case enter
        /// Makes machines run faster while it is held.
        case bendFaster = "bend-faster"
        case bendSlower = "bend-slower"
        case undo
        /// Toggles Link.
        case toggleLink = "toggle-link"
        case linkOn = "link-on"
        case linkOff = "link-off"

        /// Bars that are counted in; 0 is none.
        package static let barsToCountIn: ClosedRange<Int> = 0...16
        /// Bars after which a machine enters; 0 is the next one.
        package static let barsToEntry: ClosedRange<Int> = 0...64

        /// Whether it is for outputs, so that one may be named.
        package var takesOutput: Bool {
            switch self {
            case .nudgeEarlier, .nudgeLater, .realign, .mute, .enter, .bendFaster, .bendSlower: true
            case .play, .stop, .togglePlay, .countIn, .tap, .tempo, .tempoUp, .tempoDown, .halfTempo, .doubleTempo,
                .undo, .toggleLink, .linkOn, .linkOff:
                false
            }
        }

        /// How many bars it can be told; nil if it takes none.
        package var bars: ClosedRange<Int>? {
            switch self {
            case .countIn: Self.barsToCountIn
            case .enter: Self.barsToEntry
            default: nil
            }
        }

        /// Whether it lasts while the button is held.
        package var isHeld: Bool { self == .bendFaster || self == .bendSlower }
    }
}
