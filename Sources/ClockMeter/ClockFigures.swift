internal import MIDIClock

/// What is known of a clock that is measured; the names are those of the JSON that programs read.
///
/// What cannot be known yet is absent.
public struct ClockFigures: Hashable, Sendable, Encodable {
    /// How long has been measured.
    public var seconds: Double
    /// How well the clock is known: `waiting`, `settling`, `locked` or `lost`.
    public var state: State
    public var tempo: Tempo?
    public var ticks: Ticks
    public var jitter: Jitter?
    public var silences: Silences
    public var transport: Transport
    /// How many ticks came how early or late, in bins of equal width; the outermost hold all that lies beyond.
    public var histogram: [Bin]
    /// By how much intervals differed from their mean, over the time of measuring.
    public var trace: [Span]

    public enum State: String, Sendable, Encodable {
        case waiting, settling, locked, lost

        init(_ state: ClockFollower.State) {
            switch state {
            case .waiting: self = .waiting
            case .settling: self = .settling
            case .locked: self = .locked
            case .lost: self = .lost
            }
        }
    }

    /// The tempo since it last changed.
    public struct Tempo: Hashable, Sendable, Encodable {
        public var beatsPerMinute: Double
        /// Standard deviation of ``beatsPerMinute``, were each tick's error independent.
        public var deviation: Double
        /// The slowest and the fastest four beats.
        public var slowest: Double
        public var fastest: Double
        /// How often it changed, or the clock leapt.
        public var changes: Int
        public var drift: Drift?
    }

    /// How fast the clock runs against this machine's own.
    public struct Drift: Hashable, Sendable, Encodable {
        /// The tempo that it is meant to have.
        public var nominalTempo: Double
        /// Parts in a million, positive if it is too fast.
        public var partsPerMillion: Double
        /// Standard deviation of ``partsPerMillion``.
        public var deviation: Double
    }

    public struct Ticks: Hashable, Sendable, Encodable {
        /// Timing Clocks that came.
        public var received: Int
        /// Ticks that never came.
        public var lost: Int
        /// Timing Clocks that were no tick of their own.
        public var doubled: Int
        /// Those that jitter is measured on: what came in four beats of one tempo, and so did those around.
        public var measured: Int
        /// Messages with an impossible time.
        public var refused: Int
        /// How often the system could not keep up, and an unknown number of messages was lost on this machine.
        public var overflows: Int
    }

    public struct Jitter: Hashable, Sendable, Encodable {
        /// How far ticks were from the straight line through the four beats around them.
        public var timeIntervalErrorMicroseconds: TimeIntervalError
        public var intervalMicroseconds: Interval
        /// By how much an interval differed from the one before.
        public var cycleToCycleMicroseconds: CycleToCycle
    }

    /// Magnitudes but for the standard deviation.
    public struct TimeIntervalError: Hashable, Sendable, Encodable {
        public var deviation: Double
        public var p50: Double
        public var p99: Double
        public var p999: Double
        public var max: Double
    }

    public struct Interval: Hashable, Sendable, Encodable {
        public var mean: Double
        public var deviation: Double
        public var shortest: Double
        public var longest: Double
    }

    public struct CycleToCycle: Hashable, Sendable, Encodable {
        public var rms: Double
        public var max: Double
    }

    /// Times without a tick, of 250 ms or four ticks, whichever is more.
    public struct Silences: Hashable, Sendable, Encodable {
        public var count: Int
        public var longestSeconds: Double
    }

    public struct Transport: Hashable, Sendable, Encodable {
        /// `stopped`, `pending` from Start or Continue to the next tick, or `playing`.
        public var motion: Motion
        /// Beats from the song's top; absent unless it plays.
        public var songBeat: Double?
        /// How many transport messages came.
        public var messages: Int
        /// The newest of them.
        public var newest: [Message]

        public enum Motion: String, Sendable, Encodable { case stopped, pending, playing }
    }

    /// A transport message.
    public struct Message: Hashable, Sendable, Encodable {
        /// `start`, `continue`, `stop` or `song-position`.
        public var kind: Kind
        /// When it came, after measuring began.
        public var second: Double
        /// Of a Song Position Pointer, in sixteenths.
        public var position: Int?

        public enum Kind: String, Sendable, Encodable {
            case start, `continue`, stop
            case songPosition = "song-position"
        }
    }

    public struct Bin: Hashable, Sendable, Encodable {
        /// Where it begins; negative is early.
        public var fromMicroseconds: Double
        /// How wide it is.
        public var microseconds: Double
        public var ticks: Int
    }

    public struct Span: Hashable, Sendable, Encodable {
        public var fromSecond: Double
        public var seconds: Double
        public var leastMicroseconds: Double
        public var greatestMicroseconds: Double
    }
}
