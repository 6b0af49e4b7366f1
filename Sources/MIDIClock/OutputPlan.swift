/// What one output is to do, as long as nobody says otherwise: whether the song plays, how its device wants to be told.
@frozen
public struct OutputPlan: Hashable, Sendable, BitwiseCopyable {
    public var transport: PlannedTransport
    public var settings: OutputSettings
    /// What the loop guard asks at this output.
    public var probe: Probe
    /// Whether several devices hear this output, so that what is sent for one disturbs the others.
    public var isShared: Bool

    public init(
        transport: PlannedTransport, settings: OutputSettings, probe: Probe = .none, isShared: Bool = false
    ) {
        self.transport = transport
        self.settings = settings
        self.probe = probe
        self.isShared = isShared
    }
}

/// Whether the song plays, and where its top is.
@frozen
public struct PlannedTransport: Hashable, Sendable, BitwiseCopyable {
    public var isPlaying: Bool
    /// The tick that is the song's beat 0.
    ///
    /// It may lie ahead, and then Start is pending. Without meaning when stopped.
    public var startTick: Int64
    /// Ticks in a bar: 24 for every beat of it, 24 to 1536.
    public var ticksPerBar: Int64

    public init(isPlaying: Bool, startTick: Int64, ticksPerBar: Int64) {
        self.isPlaying = isPlaying
        self.startTick = startTick
        self.ticksPerBar = ticksPerBar
    }

    public static let stopped = PlannedTransport(isPlaying: false, startTick: 0, ticksPerBar: TickLine.ticksPerBeat)
}

/// How the device at an output wants to be told.
@frozen
public struct OutputSettings: Hashable, Sendable, BitwiseCopyable {
    /// Microseconds by which everything leaves later than the session says; see ``offsets``.
    public var offset: Int64 = 0
    /// Pulses sent for each tick, of ``multipliers``; fewer at tempos where they would come too close.
    public var multiply: Int64 = 1
    /// Ticks for each pulse sent, of ``divisors``.
    public var divide: Int64 = 1
    /// Where the second sixteenth of an eighth falls, in tenths of a percent of the eighth, of ``swings``: 500 is straight.
    public var swing: Int64 = 500
    /// Microseconds over which a change of tempo is spread, 0 to 500 000.
    public var smoothing: Int64 = 0
    /// Whether pulses go out while the song is stopped, too.
    public var isClockAlwaysOn = true
    /// Beats of the device's own before Start, for a clock that is not always on; 0 to 16.
    public var preroll: Int64 = 0
    /// Microseconds from Start or Continue to the pulse that moves the device.
    public var lead: Int64
    /// Microseconds from Song Position Pointer to Continue, for the device to find its place.
    public var locate: Int64
    /// How a device that has lost its place is brought back.
    public var realign = Realign.songPosition
    /// What sets the device going at the top of a song.
    public var start = StartMessage.start
    /// Whether the device is sent Stop.
    public var sendsStop = true
    /// Whether the device obeys Continue.
    public var takesContinue = true
    /// Whether the device obeys Song Position Pointer.
    public var takesSongPosition = true
    /// Whether the device's clock may jump to another phase; a looper's must glide.
    public var mayJump = true
    /// The tempos the device takes; outside of them the tempo is folded into them.
    public var tempos = TempoRange.all

    public static let offsets: ClosedRange<Int64> = -500_000...500_000
    public static let multipliers: ClosedRange<Int64> = 1...16
    public static let divisors: ClosedRange<Int64> = 1...96
    public static let swings: ClosedRange<Int64> = 500...750

    /// How a device finds its place in a song that plays already.
    public enum Realign: Hashable, Sendable, BitwiseCopyable {
        /// Song Position Pointer and Continue at the next sixteenth.
        case songPosition
        /// The device knows no song position: Start at the next bar.
        case restart
        /// A device that plays is left where it is, unless somebody asks.
        case none
    }

    /// What sets a device going at the top of a song.
    public enum StartMessage: Hashable, Sendable, BitwiseCopyable {
        case start
        /// Continue, after Song Position Pointer 0 where the device takes that.
        case `continue`
        /// Nothing: the device hears the clock alone.
        case none
    }

    public init(lead: Int64 = 1_000, locate: Int64 = 20_000) {
        self.lead = lead
        self.locate = locate
    }

    /// How long before the song's top an output must hear of it to start with it, in microseconds.
    ///
    /// - Parameter microsecondsPerBeat: the tempo.
    /// - Returns: microseconds; negative for an output that sends late.
    public func reach(microsecondsPerBeat: Int64) -> Int64 {
        guard !isClockAlwaysOn else { return topLead - offset }
        let fold = TempoFold.none.following(self, microsecondsPerBeat: microsecondsPerBeat)
        let grid = PulseGrid(self, fold, tickLength: microsecondsPerBeat / TickLine.ticksPerBeat, origin: 0)
        return topLead - offset + preroll * microsecondsPerBeat * grid.divide / grid.multiply
    }
}

/// The tempos a device takes, in thousandths of a beat per minute; the highest is at least twice the lowest.
@frozen
public struct TempoRange: Hashable, Sendable, BitwiseCopyable {
    public let lowest: Int64
    public let highest: Int64

    /// All that a session can have: nothing is folded, however an output multiplies or divides it.
    public static let all = TempoRange(20_000, 999_000)

    /// A range, if it is an octave wide and positive, so that any tempo can be folded into it.
    public init?(lowest: Int64, highest: Int64) {
        guard lowest > 0, highest >= 2 * lowest else { return nil }
        self.init(lowest, highest)
    }

    /// What both ranges have in common; this one if that is less than an octave.
    package func narrowed(to other: TempoRange) -> TempoRange {
        TempoRange(lowest: max(lowest, other.lowest), highest: min(highest, other.highest)) ?? self
    }

    private init(_ lowest: Int64, _ highest: Int64) {
        self.lowest = lowest
        self.highest = highest
    }
}
