internal import MIDIClock

/// What is known of a clock that is measured; the names are those of the JSON that programs read.
///
/// What cannot be known yet is absent.
package struct ClockFigures: Hashable, Sendable, Encodable {
    /// How long has been measured.
    package var seconds: Double
    /// How well the clock is known: `waiting`, `settling`, `locked` or `lost`.
    package var state: State
    package var tempo: Tempo?
    package var ticks: Ticks
    package var jitter: Jitter?
    package var silences: Silences
    package var transport: Transport
    /// How many ticks came how early or late, in bins of equal width; the outermost hold all that lies beyond.
    package var histogram: [Bin]
    /// By how much intervals differed from their mean, over the time of measuring.
    package var trace: [Span]

    package enum State: String, Sendable, Encodable {
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
    package struct Tempo: Hashable, Sendable, Encodable {
        package var beatsPerMinute: Double
        /// Standard deviation of ``beatsPerMinute``, were each tick's error independent.
        package var deviation: Double
        /// The slowest and the fastest four beats.
        package var slowest: Double
        package var fastest: Double
        /// How often it changed, or the clock leapt.
        package var changes: Int
        package var drift: Drift?
    }

    /// How fast the clock runs against this machine's own.
    package struct Drift: Hashable, Sendable, Encodable {
        /// The tempo that it is meant to have.
        package var nominalTempo: Double
        /// Parts in a million, positive if it is too fast.
        package var partsPerMillion: Double
        /// Standard deviation of ``partsPerMillion``.
        package var deviation: Double
    }

    package struct Ticks: Hashable, Sendable, Encodable {
        /// Timing Clocks that came.
        package var received: Int
        /// Ticks that never came.
        package var lost: Int
        /// Timing Clocks that were no tick of their own.
        package var doubled: Int
        /// Those that jitter is measured on: what came in four beats of one tempo, and so did those around.
        package var measured: Int
        /// Messages with an impossible time.
        package var refused: Int
        /// How often the system could not keep up, and an unknown number of messages was lost on this machine.
        package var overflows: Int
    }

    package struct Jitter: Hashable, Sendable, Encodable {
        /// How far ticks were from the straight line through the four beats around them.
        package var timeIntervalErrorMicroseconds: TimeIntervalError
        package var intervalMicroseconds: Interval
        /// By how much an interval differed from the one before.
        package var cycleToCycleMicroseconds: CycleToCycle
    }

    /// Magnitudes but for the standard deviation.
    package struct TimeIntervalError: Hashable, Sendable, Encodable {
        package var deviation: Double
        package var p50: Double
        package var p99: Double
        package var p999: Double
        package var max: Double
    }

    package struct Interval: Hashable, Sendable, Encodable {
        package var mean: Double
        package var deviation: Double
        package var shortest: Double
        package var longest: Double
    }

    package struct CycleToCycle: Hashable, Sendable, Encodable {
        package var rms: Double
        package var max: Double
    }

    /// Times without a tick, of 250 ms or four ticks, whichever is more.
    package struct Silences: Hashable, Sendable, Encodable {
        package var count: Int
        package var longestSeconds: Double
    }

    package struct Transport: Hashable, Sendable, Encodable {
        /// `stopped`, `pending` from Start or Continue to the next tick, or `playing`.
        package var motion: Motion
        /// Beats from the song's top; absent unless it plays.
        package var songBeat: Double?
        /// How many transport messages came.
        package var messages: Int
        /// The newest of them.
        package var newest: [Message]

        package enum Motion: String, Sendable, Encodable { case stopped, pending, playing }
    }

    /// A transport message.
    package struct Message: Hashable, Sendable, Encodable {
        /// `start`, `continue`, `stop` or `song-position`.
        package var kind: Kind
        /// When it came, after measuring began.
        package var second: Double
        /// Of a Song Position Pointer, in sixteenths.
        package var position: Int?

        package enum Kind: String, Sendable, Encodable {
            case start, `continue`, stop
            case songPosition = "song-position"
        }
    }

    package struct Bin: Hashable, Sendable, Encodable {
        /// Where it begins; negative is early.
        package var fromMicroseconds: Double
        /// How wide it is.
        package var microseconds: Double
        package var ticks: Int
    }

    package struct Span: Hashable, Sendable, Encodable {
        package var fromSecond: Double
        package var seconds: Double
        package var leastMicroseconds: Double
        package var greatestMicroseconds: Double
    }
}
