internal import MIDIClock

/// The measured figures of a clock, named as in the JSON for programs.
///
/// Figures that are not known yet are absent.
package struct ClockFigures: Hashable, Sendable, Encodable {
    /// Duration of the measurement so far.
    package var seconds: Double
    /// How well the clock is known: `waiting`, `settling`, `locked` or `lost`.
    package var state: State
    package var tempo: Tempo?
    package var ticks: Ticks
    package var jitter: Jitter?
    package var silences: Silences
    package var transport: Transport
    /// Number of ticks by error, in bins of equal width; the outermost include everything beyond.
    package var histogram: [Bin]
    /// Deviations of intervals from their mean, over time.
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

    /// The tempo since its last change.
    package struct Tempo: Hashable, Sendable, Encodable {
        package var beatsPerMinute: Double
        /// Standard deviation of ``beatsPerMinute``, if tick errors are independent.
        package var deviation: Double
        /// The slowest and the fastest four beats.
        package var slowest: Double
        package var fastest: Double
        /// Number of changes of tempo and leaps of the clock.
        package var changes: Int
        package var drift: Drift?
    }

    /// How fast the clock runs against this machine's own.
    package struct Drift: Hashable, Sendable, Encodable {
        /// The intended tempo.
        package var nominalTempo: Double
        /// Parts in a million, positive if it is too fast.
        package var partsPerMillion: Double
        /// Standard deviation of ``partsPerMillion``.
        package var deviation: Double
    }

    package struct Ticks: Hashable, Sendable, Encodable {
        /// Timing Clocks received.
        package var received: Int
        /// Missing ticks.
        package var lost: Int
        /// Timing Clocks that were not ticks.
        package var doubled: Int
        /// Ticks used for jitter: in four beats of one tempo, with neighbors of the same tempo.
        package var measured: Int
        /// Messages with an impossible time.
        package var refused: Int
        /// Number of overflows on this machine, each with an unknown number of lost messages.
        package var overflows: Int
    }

    package struct Jitter: Hashable, Sendable, Encodable {
        /// Distances of ticks from a straight line through the four beats around them.
        package var timeIntervalErrorMicroseconds: TimeIntervalError
        package var intervalMicroseconds: Interval
        /// Differences between successive intervals.
        package var cycleToCycleMicroseconds: CycleToCycle
    }

    /// Magnitudes, except for the standard deviation.
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

    /// Times without a tick, of at least 250 ms and four ticks.
    package struct Silences: Hashable, Sendable, Encodable {
        package var count: Int
        package var longestSeconds: Double
    }

    package struct Transport: Hashable, Sendable, Encodable {
        /// `stopped`, `pending` from Start or Continue to the next tick, or `playing`.
        package var motion: Motion
        /// Beats from the start of the song; absent unless it plays.
        package var songBeat: Double?
        /// Number of transport messages.
        package var messages: Int
        /// The newest transport messages.
        package var newest: [Message]

        package enum Motion: String, Sendable, Encodable { case stopped, pending, playing }
    }

    /// A transport message.
    package struct Message: Hashable, Sendable, Encodable {
        /// `start`, `continue`, `stop` or `song-position`.
        package var kind: Kind
        /// Its time since the start of the measurement.
        package var second: Double
        /// Position in sixteenths, for a Song Position Pointer.
        package var position: Int?

        package enum Kind: String, Sendable, Encodable {
            case start, `continue`, stop
            case songPosition = "song-position"
        }
    }

    package struct Bin: Hashable, Sendable, Encodable {
        /// Lower limit; negative is early.
        package var fromMicroseconds: Double
        /// Width of the bin.
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
