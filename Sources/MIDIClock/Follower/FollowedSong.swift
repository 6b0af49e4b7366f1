internal import BeatTime

/// What a leader's transport messages mean on its unbroken count of ticks.
///
/// Start and Continue take effect with the next Timing Clock. Stop freezes the song position while ticks are counted
/// on. A Song Position that comes while the song plays waits for the next Continue.
public struct FollowedSong: Hashable, Sendable, BitwiseCopyable {
    /// What the song does.
    public enum Motion: Hashable, Sendable, BitwiseCopyable {
        case stopped
        /// Start or Continue has come; the song moves with the next tick.
        case pending
        case playing
    }

    public private(set) var motion: Motion = .stopped
    /// The tick that is the song's beat 0, possibly one that was never sent; nil before the first Start or Continue.
    ///
    /// Bars are counted from it. It stays through Stop, and holds until the tick after the next Start or Continue.
    public private(set) var origin: Int64?
    /// The song position, in ticks, that the first tick after a Continue has; while playing, as it was at the last one.
    public private(set) var resumePosition: Int64 = 0
    /// When the tick came that set ``origin``.
    private(set) var originTime = HostTime(microseconds: .min)
    private var located: Int64?
    private var originTick: Int64 = 0
    /// The tick before which the song stopped, unless it was located afterwards.
    private var stoppedBefore: Int64?

    /// Ticks after which a Song Position Pointer, 14 bits of six ticks each, begins again.
    private static let cycle: Int64 = 6 << 14

    init() {}

    /// The song position of a tick in ticks; nil unless the song plays.
    public func position(ofTick tick: Int64) -> Int64? {
        guard motion == .playing, let origin else { return nil }
        return tick &- origin
    }

    /// Takes in Start.
    mutating func start() {
        motion = .pending
        resumePosition = 0
        located = nil
        stoppedBefore = nil
    }

    /// Takes in Continue.
    mutating func resume() {
        if motion == .playing {
            guard let located else { return }
            resumePosition = located
        }
        motion = .pending
        located = nil
        stoppedBefore = nil
    }

    /// Takes in Stop; `next` is the number of the next tick.
    mutating func stop(before next: Int64) {
        if motion == .playing {
            resumePosition = located ?? next &- (origin ?? next)
            stoppedBefore = located == nil ? next : nil
        }
        motion = .stopped
        located = nil
    }

    /// Takes in a Song Position Pointer, extended to the full position nearest to where the song is.
    mutating func locate(_ beats: UInt16, before next: Int64) {
        let named = Int64(beats & 0x3FFF) * 6
        let here = position(ofTick: next) ?? resumePosition
        let cycles = max(0, (here &- named &+ Self.cycle / 2).floorDivided(by: Self.cycle))
        let full = named &+ cycles &* Self.cycle
        if motion == .playing {
            located = full
        } else {
            resumePosition = full
            stoppedBefore = nil
        }
    }

    /// Takes in a Timing Clock.
    mutating func tick(_ number: Int64, at time: HostTime) {
        guard motion == .pending else { return }
        motion = .playing
        origin = number &- resumePosition
        originTick = number
        originTime = time
    }

    /// Ticks turned out to be later ones than they were taken for.
    mutating func ticksRenumbered(from first: Int64, by distance: Int64) {
        if let stoppedBefore, stoppedBefore > first, originTick < first { resumePosition &+= distance }
        if originTick >= first { originRenumbered(originTick &+ distance) }
    }

    /// The tick that set ``origin`` turned out to have another number.
    mutating func originRenumbered(_ number: Int64) {
        guard let origin else { return }
        self.origin = origin &+ number &- originTick
        originTick = number
    }
}
