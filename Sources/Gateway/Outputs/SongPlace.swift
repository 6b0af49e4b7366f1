internal import BeatTime
internal import MIDIClock

/// Where the song is, for what happens at its bars.
struct SongPlace {
    /// The present tick, counted from the song's beat 0, negative before it begins; nil while no song plays.
    var tick: Double?
    var ticksPerBar: Int64
    var microsecondsPerBeat: Int64
    /// Microseconds until a change that is made now has reached the output thread, and what is in the queue has left it.
    var delay: Int64
    /// The present time.
    var now: HostTime

    /// The first bar before which a device can be sent something.
    ///
    /// - Parameter lead: how many microseconds before the bar the device must be sent it.
    /// - Returns: its tick, at least 0; nil while no song plays.
    func nextBar(after lead: Int64) -> Int64? {
        guard let tick else { return nil }
        let earliest = tick + Double((delay + lead) * TickLine.ticksPerBeat) / Double(microsecondsPerBeat)
        return max(0, Int64((earliest / Double(ticksPerBar)).rounded(.up)) * ticksPerBar)
    }
}
