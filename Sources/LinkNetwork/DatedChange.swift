internal import BeatTime
package import LinkSession
internal import RealTime

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
        let day = RealTime.millisecondsSince1970()
        return changes.map { change in
            dated.first { $0.change.number == change.number }
                ?? DatedChange(change, millisecondsSince1970: day - change.at.microseconds(to: now) / 1_000)
        }
    }
}
