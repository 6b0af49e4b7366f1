internal import BeatTime

/// How and at which tick a stopped device comes into a song.
///
/// At the song's top it is a Start. Anywhere later it is Song Position Pointer, then Continue, at a sixteenth: the
/// only places that message can name. Nobody starts late in place.
struct Entry: Hashable, BitwiseCopyable {
    /// The song's beat 0 this entry belongs to.
    let startTick: Int64
    /// The tick with which the device begins to move.
    let tick: Int64
    /// Whether only the last message, Start or Continue, is left to send.
    var isLocated: Bool

    /// The least time between Start or Continue and its tick, in microseconds: the byte must be through a DIN line.
    private static let leastLead: Int64 = 350

    /// The first entry that can be met.
    ///
    /// - Parameters:
    ///   - plan: with its song playing or pending.
    ///   - next: the next tick to be sent.
    ///   - now: the present host time.
    ///   - atBar: whether to wait for a bar instead of a sixteenth when the top has passed.
    /// - Returns: Start at the top, or Song Position Pointer and Continue at the first place after it.
    static func first(_ plan: OutputPlan, from next: Int64, at now: HostTime, atBar: Bool) -> Entry {
        let startTick = plan.transport.startTick
        let top = Entry(startTick: startTick, tick: startTick, isLocated: true)
        guard !top.isInTime(plan, tick: next, at: now) else { return top }
        let grid = atBar ? plan.transport.ticksPerBar : 6
        let gridsToNext = (next - startTick + grid - 1).floorDivided(by: grid)
        var entry = Entry(startTick: startTick, tick: startTick + max(1, gridsToNext) * grid, isLocated: false)
        while !entry.isInTime(plan, tick: next, at: now) {
            entry = Entry(startTick: startTick, tick: entry.tick + grid, isLocated: false)
        }
        return entry
    }

    /// Whether this entry's next message can still leave in time.
    func isInTime(_ plan: OutputPlan, tick next: Int64, at now: HostTime) -> Bool {
        guard next <= tick else { return false }
        let needed = isLocated ? Self.leastLead : plan.settings.locate
        return now.microseconds(to: plan.line.time(ofTick: tick)) >= needed
    }

    func nextMessage(_ plan: OutputPlan) -> ClockMessage {
        guard isLocated else { return .songPosition(Self.songPosition(of: tick, plan.transport)) }
        return tick == startTick ? .start : .continue
    }

    /// When the next message leaves.
    ///
    /// Start and Continue leave `lead` before their tick, but not within 40 % of the gap after the tick before;
    /// Song Position Pointer leaves `locate` earlier still.
    func nextMessageTime(_ plan: OutputPlan) -> HostTime {
        let tickTime = plan.line.time(ofTick: tick)
        let previous = plan.line.time(ofTick: tick - 1)
        let earliest = previous.advanced(byMicroseconds: previous.microseconds(to: tickTime) * 2 / 5)
        let lead = max(tickTime.advanced(byMicroseconds: -plan.settings.lead), earliest)
        return isLocated ? lead : lead.advanced(byMicroseconds: -plan.settings.locate)
    }

    /// A tick's place in the song in sixteenths, as 14 bits can say it.
    ///
    /// Beyond 16383 it wraps at the largest whole number of bars that fits, so bars stay where they are.
    static func songPosition(of tick: Int64, _ transport: PlannedTransport) -> UInt16 {
        let sixteenthsPerBar = transport.ticksPerBar / 6
        let cycle = 16_384 / sixteenthsPerBar * sixteenthsPerBar
        return UInt16(truncatingIfNeeded: (tick - transport.startTick) / 6 % cycle)
    }
}
