/// What one output does until the next change: transport, device settings, probe.
///
/// ```swift
/// var plan = OutputPlan(transport: .stopped, settings: OutputSettings())
/// plan.settings.offset = -2_500
/// assert(plan.probe == .none)
/// ```
@frozen
public struct OutputPlan: Hashable, Sendable, BitwiseCopyable {
    public var transport: PlannedTransport
    public var settings: OutputSettings
    /// The loop guard's probe at this output.
    public var probe: Probe
    /// Whether several devices receive from this output, so that messages for one reach the others.
    public var isShared: Bool
    /// The part of the song in which the device does not play.
    public var rest: Rest
    /// How much faster somebody holds it, in millionths, limited by ``Bend/rates``; 0 lets it go back to its place.
    public var bend: Int64

    public init(
        transport: PlannedTransport, settings: OutputSettings, probe: Probe = .none, isShared: Bool = false,
        rest: Rest = .none, bend: Int64 = 0
    ) {
        self.transport = transport
        self.settings = settings
        self.probe = probe
        self.isShared = isShared
        self.rest = rest
        self.bend = bend
    }
}

/// Whether the song plays, and at which tick it begins.
///
/// ```swift
/// let song = PlannedTransport(isPlaying: true, startTick: 96, ticksPerBar: 4 * TickLine.ticksPerBeat)
/// assert(song.ticksPerBar == 96)
/// ```
@frozen
public struct PlannedTransport: Hashable, Sendable, BitwiseCopyable {
    public var isPlaying: Bool
    /// The tick that is the song's beat 0.
    ///
    /// If it is in the future, Start is pending. Meaningless when stopped.
    public var startTick: Int64
    /// Ticks in a bar: 24 per beat, 24 to 1536.
    public var ticksPerBar: Int64

    public init(isPlaying: Bool, startTick: Int64, ticksPerBar: Int64) {
        self.isPlaying = isPlaying
        self.startTick = startTick
        self.ticksPerBar = ticksPerBar
    }

    public static let stopped = PlannedTransport(isPlaying: false, startTick: 0, ticksPerBar: TickLine.ticksPerBeat)
}

/// How to drive the device at an output.
///
/// ```swift
/// var settings = OutputSettings()
/// settings.start = .none
/// assert(!settings.takesTransport)
/// ```
@frozen
public struct OutputSettings: Hashable, Sendable, BitwiseCopyable {
    /// Microseconds by which everything is sent later than the session says; limited by ``offsets``.
    public var offset: Int64 = 0
    /// Pulses per tick, limited by ``multipliers``; fewer at tempos where they would come too close.
    public var multiply: Int64 = 1
    /// Ticks per pulse, limited by ``divisors``.
    public var divide: Int64 = 1
    /// Place of the second sixteenth in an eighth, in tenths of a percent, limited by ``swings``; 500 is straight.
    public var swing: Int64 = 500
    /// Microseconds over which a change of tempo is spread, 0 to 500 000.
    public var smoothing: Int64 = 0
    /// Whether pulses are sent while the song is stopped.
    public var isClockAlwaysOn = true
    /// Beats sent before Start, by the device's count, if the clock is not always on; 0 to 16.
    public var preroll: Int64 = 0
    /// Microseconds from Start or Continue to the pulse that starts the device.
    public var lead: Int64
    /// Whether no pulse is sent within ``lead``; if not, it is shorter at tempos whose pulses are closer.
    public var keepsLeadClear = false
    /// Microseconds from Song Position Pointer to Continue, for the device to find its place.
    public var locate: Int64
    /// How a device that has lost its place is realigned.
    public var realign = Realign.songPosition
    /// What starts the device at the beginning of a song.
    public var start = StartMessage.start
    /// Whether the device is sent Stop.
    public var sendsStop = true
    /// Whether the device obeys Continue.
    public var takesContinue = true
    /// Whether the device obeys Song Position Pointer.
    public var takesSongPosition = true
    /// Whether the device's clock may step to another phase; for a looper it must slew.
    public var mayStep = true
    /// The tempos the device accepts; others are folded into this range.
    public var tempos = TempoRange.all

    public static let offsets: ClosedRange<Int64> = -500_000...500_000
    public static let multipliers: ClosedRange<Int64> = 1...16
    public static let divisors: ClosedRange<Int64> = 1...96
    public static let swings: ClosedRange<Int64> = 500...750

    /// How a device finds its place in a playing song.
    ///
    /// ```swift
    /// var looper = OutputSettings()
    /// looper.realign = .none
    /// assert(looper.canBePlaced)  // It is placed if somebody asks.
    /// ```
    public enum Realign: Hashable, Sendable, BitwiseCopyable {
        /// Song Position Pointer and Continue at the next sixteenth.
        case songPosition
        /// Start at the next bar, for a device without song position.
        case restart
        /// A playing device is left where it is, unless asked to realign.
        case none
    }

    /// What starts a device at the beginning of a song.
    ///
    /// ```swift
    /// var settings = OutputSettings()
    /// settings.start = .continue
    /// assert(settings.takesTransport)
    /// ```
    public enum StartMessage: Hashable, Sendable, BitwiseCopyable {
        case start
        /// Continue, after Song Position Pointer 0 if the device accepts it.
        case `continue`
        /// Nothing: the device gets only the clock.
        case none
    }

    public init(lead: Int64 = 1_000, locate: Int64 = 20_000) {
        self.lead = lead
        self.locate = locate
    }

    /// How long before its beginning a song must be announced, for an output to start with it.
    ///
    /// - Parameter microsecondsPerBeat: the tempo.
    /// - Returns: microseconds; negative for an output that sends late.
    public func reach(microsecondsPerBeat: Int64) -> Int64 {
        guard !isClockAlwaysOn else { return topLead - offset }
        let fold = TempoFold.none.following(self, microsecondsPerBeat: microsecondsPerBeat)
        let source = PulseGrid.Source(self, tickLength: microsecondsPerBeat / TickLine.ticksPerBeat, origin: 0)
        let grid = PulseGrid(source, fold)
        return topLead - offset + preroll * microsecondsPerBeat * grid.divide / grid.multiply
    }
}

/// The tempos a device accepts, in thousandths of a BPM; the highest is at least twice the lowest.
///
/// ```swift
/// assert(TempoRange(lowest: 60_000, highest: 180_000)?.highest == 180_000)
/// assert(TempoRange(lowest: 60_000, highest: 100_000) == nil)
/// ```
@frozen
public struct TempoRange: Hashable, Sendable, BitwiseCopyable {
    public let lowest: Int64
    public let highest: Int64

    /// All tempos of a session: nothing is folded, even if an output multiplies or divides.
    public static let all = TempoRange(20_000, 999_000)

    /// A range, if it is positive and at least an octave wide, so that any tempo can be folded into it.
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
