internal import BeatTime
internal import MIDIClock

/// When the playing song began or will begin, whatever its tempo has been since: time code counts from there.
struct SongBegin: Hashable, Sendable {
    private(set) var time = HostTime(microseconds: 0)
    /// The tick of its beginning; nil while nothing plays.
    private var startTick: Int64?
    private var relocations: UInt32 = 0

    /// Takes the newest transport.
    ///
    /// A song that goes on with its beats at other places, as when another session is joined, keeps its time. One that is
    /// continued from a place began so long ago as that takes at the present tempo.
    ///
    /// - Parameters:
    ///   - transport: of the board.
    ///   - relocations: how often playing songs have been moved so.
    ///   - map: of the board.
    ///   - now: the present time.
    mutating func follow(_ transport: PlannedTransport, relocations: UInt32, on map: TempoMap, at now: HostTime) {
        defer { self.relocations = relocations }
        guard transport.isPlaying else { return startTick = nil }
        let isSame = startTick == transport.startTick || startTick != nil && relocations != self.relocations
        startTick = transport.startTick
        if !isSame || time > now { time = map.line.time(ofTick: transport.startTick) }
    }
}
