internal import BeatTime
internal import Glibc
package import LinkSession

/// A change of the session, with the time of day.
///
/// The time is converted once, when the change is first seen: the time of day may be set in between.
package struct DatedChange: Hashable, Sendable {
    package var change: SessionChange
    package var millisecondsSince1970: Int64

    package init(_ change: SessionChange, millisecondsSince1970: Int64) {
        self.change = change
        self.millisecondsSince1970 = millisecondsSince1970
    }

    /// Dates the changes that are not dated yet.
    ///
    /// - Parameters:
    ///   - changes: in order.
    ///   - dated: those that were dated before.
    ///   - now: the present time.
    /// - Returns: all of `changes`.
    static func dating(_ changes: [SessionChange], after dated: [DatedChange], at now: HostTime) -> [DatedChange] {
        let day = DayTime.now()
        return changes.map { change in
            dated.first { $0.change.number == change.number }
                ?? DatedChange(change, millisecondsSince1970: day - change.at.microseconds(to: now) / 1_000)
        }
    }
}

/// The time of day, which may be set back or forth.
private enum DayTime {
    /// Milliseconds since 1970.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
