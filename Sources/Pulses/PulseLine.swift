/// What one channel of a sound card carries: a clock, what tells machines to play, or a click for people.
package struct PulseLine: Hashable, Sendable, BitwiseCopyable {
    package var signal: Signal
    /// The levels of a line that is off and on, as shares of full scale: -1 to 1.
    package var low: Float = 0
    package var high: Float = 1
    /// Whether the line has its high level while it is off.
    package var isInverted = false

    package enum Signal: Hashable, Sendable, BitwiseCopyable {
        /// Pulses that count time.
        case clock(PulseRate, PulseWidth)
        /// On while the song plays.
        case run
        /// A pulse when the song starts or stops, of so many microseconds: 1000 to 50 000.
        case trigger(Trigger, microseconds: Int64)
        /// The sound of a metronome, while the song plays, and in whole bars before it.
        case click(ClickLevels)
    }

    package enum Trigger: Hashable, Sendable, BitwiseCopyable {
        /// For inputs that are called start or reset.
        case start
        case stop
        /// For machines with one input for both.
        case startAndStop
    }

    package init(_ signal: Signal) { self.signal = signal }

    /// The same at another level, which is a factor.
    package func scaled(by level: Float) -> PulseLine {
        var line = self
        (line.low, line.high) = (low * level, high * level)
        if case .click(let levels) = signal {
            line.signal = .click(
                ClickLevels(bar: levels.bar * level, beat: levels.beat * level, offBeat: levels.offBeat * level))
        }
        return line
    }

    /// Whether it counts time, rather than tells when to play.
    package var isClock: Bool {
        switch signal {
        case .clock, .click: true
        case .run, .trigger: false
        }
    }

    /// How many pulses it has per beat; nil if it has none in some beats.
    var pulsesPerBeat: Int64? {
        switch signal {
        case .clock(.perBeat(let count), _): count
        case .click: 1
        case .clock(.everyBars, _), .run, .trigger: nil
        }
    }

    func level(isOn: Bool) -> Float { isOn != isInverted ? high : low }
}

/// How many pulses a clock has.
package enum PulseRate: Hashable, Sendable, BitwiseCopyable {
    /// One of ``perBeat``; the caller must reject other numbers.
    case perBeat(Int64)
    /// One at the beginning of every bar, or of every so many; only while a song plays.
    case everyBars(Int64)

    package static let perBeat: [Int64] = [1, 2, 4, 8, 12, 16, 24, 48]
}

/// How long a pulse lasts; never more than half the time to the next one.
package enum PulseWidth: Hashable, Sendable, BitwiseCopyable {
    case microseconds(Int64)
    /// A share of the time to the next pulse, 1 to 50 percent.
    case percent(Int64)

    /// The width in microseconds of a pulse that is so long before the next one.
    func callAsFunction(interval: Int64) -> Int64 {
        switch self {
        case .microseconds(let width): min(width, interval / 2)
        case .percent(let share): interval * min(share, 50) / 100
        }
    }
}
