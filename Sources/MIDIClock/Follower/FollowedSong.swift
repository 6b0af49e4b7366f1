internal import BeatTime

/// Which place of the leader's song each of its ticks has.
///
/// Start and Continue take effect with the next Timing Clock. Stop freezes the song position, while ticks are still
/// counted. A Song Position that arrives while the song plays waits for the next Continue.
///
/// ```swift
/// var follower = ClockFollower()
/// follower.received(.start, at: HostTime(microseconds: 0))
/// follower.received(.timingClock, at: HostTime(microseconds: 1_000))
/// assert(follower.song.position(ofTick: 0) == 0)
/// assert(follower.song.position(ofTick: 24) == 24)
/// ```
public struct FollowedSong: Hashable, Sendable, BitwiseCopyable {
    /// The state of the song.
    ///
    /// ```swift
    /// var follower = ClockFollower()
    /// follower.received(.start, at: HostTime(microseconds: 0))
    /// assert(follower.song.motion == .pending)
    /// follower.received(.timingClock, at: HostTime(microseconds: 1_000))
    /// assert(follower.song.motion == .playing)
    /// ```
    public enum Motion: Hashable, Sendable, BitwiseCopyable {
        case stopped
        /// Start or Continue has arrived; the song begins with the next tick.
        case pending
        case playing
    }

    public private(set) var motion: Motion = .stopped
    /// The tick of the song's beat 0, even if it was never sent; nil until the song has played.
    ///
    /// Bars are counted from it. It stays through Stop, and until the tick after the next Start or Continue.
    public private(set) var origin: Int64?
    /// Song position at which the next Continue starts, in ticks; while playing, that at which the song started.
    public private(set) var resumePosition: Int64 = 0
    /// How often a song was started or continued.
    public private(set) var starts: UInt32 = 0
    /// Song position that came while playing, in ticks, for the next Continue.
    private var located: Int64?
    private var originTick: Int64 = 0
    /// The tick before which the song stopped; nil if it resumes where a Song Position says.
    private var stoppedBefore: Int64?

    /// Ticks after which a Song Position Pointer wraps: it counts units of six ticks, and has 14 bits.
    private static let cycle: Int64 = 6 << 14

    init() {}

    /// Song position of a tick, in ticks; nil unless the song plays.
    public func position(ofTick tick: Int64) -> Int64? {
        guard motion == .playing, let origin else { return nil }
        return tick &- origin
    }

    /// Processes Start.
    mutating func start() {
        motion = .pending
        starts &+= 1
        resumePosition = 0
        located = nil
        stoppedBefore = nil
    }

    /// Processes Continue.
    mutating func resume() {
        if motion == .playing {
            guard let located else { return }
            resumePosition = located
        }
        motion = .pending
        starts &+= 1
        located = nil
        stoppedBefore = nil
    }

    /// Processes Stop; `next` is the number of the next tick.
    mutating func stop(before next: Int64) {
        if motion == .playing {
            resumePosition = located ?? next &- (origin ?? next)
            stoppedBefore = located == nil ? next : nil
        }
        motion = .stopped
        located = nil
    }

    /// Processes a Song Position Pointer; of the places it can mean, the nearest is taken.
    mutating func locate(_ sixteenths: UInt16, before next: Int64) {
        let named = Int64(sixteenths & 0x3FFF) * 6
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

    /// Processes a Timing Clock.
    mutating func tick(_ number: Int64) {
        guard motion == .pending else { return }
        motion = .playing
        origin = number &- resumePosition
        originTick = number
    }

    /// Corrects tick numbers from one on.
    mutating func ticksRenumbered(from first: Int64, by distance: Int64) {
        // Ticks of the song that are found missing after its Stop.
        if let stoppedBefore, stoppedBefore > first {
            if originTick < first { resumePosition &+= distance }
            self.stoppedBefore = stoppedBefore &+ distance
        }
        if originTick >= first { originRenumbered(originTick &+ distance) }
    }

    /// Corrects the place of the song, because ticks have come twice for a while.
    ///
    /// - Parameter number: gives a tick's number by the new count from its number by the old one.
    mutating func ticksRenumbered(to number: (Int64) -> Int64) {
        if let stoppedBefore {
            let stop = number(stoppedBefore)
            if motion != .playing { resumePosition &+= stop &- number(originTick) &- (stoppedBefore &- originTick) }
            self.stoppedBefore = stop
        }
        if origin != nil { originRenumbered(number(originTick)) }
    }

    /// Corrects the number of the tick that set ``origin``.
    private mutating func originRenumbered(_ number: Int64) {
        guard let origin else { return }
        self.origin = origin &+ number &- originTick
        originTick = number
    }
}
