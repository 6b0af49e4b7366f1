/// What one output is to do, as long as nobody says otherwise: where ticks fall, whether the song plays, how its
/// device wants to be told.
@frozen
public struct OutputPlan: Hashable, Sendable, BitwiseCopyable {
    public var line: TickLine
    public var transport: PlannedTransport
    public var settings: OutputSettings

    public init(line: TickLine, transport: PlannedTransport, settings: OutputSettings) {
        self.line = line
        self.transport = transport
        self.settings = settings
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
    /// Microseconds from Start or Continue to the tick that moves the device.
    public var lead: Int64
    /// Microseconds from Song Position Pointer to Continue, for the device to find its place.
    public var locate: Int64

    public init(lead: Int64 = 1_000, locate: Int64 = 20_000) {
        self.lead = lead
        self.locate = locate
    }
}

/// The spacing rules that follow from a tempo.
extension TickLine {
    /// The least time between two ticks sent, in microseconds: a device must see each one, and two bytes on a DIN
    /// line take 0.64 ms.
    var minimumGap: Int64 { max(700, min(2_000, tickLength * 4 / 5)) }

    /// How late a tick may be and still be caught up, in microseconds; beyond it the device is relocated.
    ///
    /// Three ticks or 30 ms, whichever is more, but never more than a sixteenth.
    var catchUpLimit: Int64 { min(max(3 * tickLength, 30_000), 6 * tickLength) }
}
