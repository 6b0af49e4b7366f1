internal import BeatTime
internal import MIDIClock

/// Whether somebody holds an output's device off its tempo, and how far that has taken it.
///
/// The output thread counts the shift itself; what is known here differs by what happens within a few milliseconds. Both
/// begin anew when the device is gone or leads.
struct Bending: Hashable, Sendable {
    private var bend = Bend()
    /// When it is let go unless whoever holds it gives another sign; nil if nobody holds it.
    private(set) var deadline: HostTime?

    /// How much faster it is held, in millionths; 0 lets it go back to its place.
    var rate: Int64 { bend.rate }

    /// Holds it, or lets it go.
    ///
    /// - Parameters:
    ///   - percent: how much faster; 0 lets go.
    ///   - time: for how long, in microseconds, unless it is held again.
    ///   - now: the present time.
    /// - Returns: whether it is held otherwise than before.
    mutating func hold(_ percent: Double, for time: Int64, at now: HostTime) -> Bool {
        deadline = percent == 0 ? nil : now.advanced(byMicroseconds: time)
        return turn(to: Int64((percent * 10_000).rounded()), at: now)
    }

    /// Lets it go if its time is over.
    ///
    /// - Returns: whether it was held.
    mutating func endIfOver(at now: HostTime) -> Bool {
        guard let deadline, deadline <= now else { return false }
        self.deadline = nil
        return turn(to: 0, at: now)
    }

    /// How far the device is from its place, in microseconds; positive is late.
    func shift(at now: HostTime) -> Int64 { bend.shift(at: bend.time(shiftedTo: now)) }

    private mutating func turn(to rate: Int64, at now: HostTime) -> Bool {
        guard rate != bend.rate else { return false }
        bend.turn(to: rate, at: bend.time(shiftedTo: now))
        return true
    }
}
