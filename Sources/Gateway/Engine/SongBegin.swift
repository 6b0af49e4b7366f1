internal import BeatTime
internal import MIDIClock

/// When the playing song began or will begin, whatever its tempo has been since: time code counts from there.
struct SongBegin: Hashable, Sendable {
    private(set) var time = HostTime(microseconds: 0)
    /// The tick of its beginning; nil while nothing plays.
    private var startTick: Int64?

    /// A song whose beginning is no longer ago than this, in microseconds, has just been started.
    private static let recent: Int64 = 1_000_000

    /// Takes the newest transport.
    ///
    /// A song that plays goes on counting, wherever its beats are moved. One that is only joined now began when its session
    /// was asked to play, or at the bar after that.
    ///
    /// - Parameters:
    ///   - transport: of the board.
    ///   - map: of the board.
    ///   - asked: when the session was asked to play; nil without one.
    ///   - now: the present time.
    mutating func follow(_ transport: PlannedTransport, on map: TempoMap, asked: HostTime?, at now: HostTime) {
        guard transport.isPlaying else { return startTick = nil }
        let wasPlaying = startTick != nil
        let isMoved = startTick != transport.startTick
        startTick = transport.startTick
        let planned = map.time(ofTick: transport.startTick)
        let isPending = wasPlaying && time > now
        if isPending || isMoved && planned.microseconds(to: now) <= Self.recent {
            time = planned
        } else if !wasPlaying {
            let bar = map.line.tickLength * transport.ticksPerBar
            time = asked.map { (0...bar).contains($0.microseconds(to: planned)) ? planned : $0 } ?? planned
        }
    }
}
