internal import RealTime

/// When the state is to be written: soon, yet so seldom that a knob does not wear out a memory card.
struct WriteSchedule: Hashable, Sendable {
    /// When to write; nil if nothing has changed.
    private(set) var due: MonotonicTime?
    private var last: MonotonicTime

    /// What changed.
    enum Change: Hashable, Sendable {
        /// Something that the user has set.
        case setting
        /// Something that changes by itself, perhaps all the time, as the tempo of a session.
        case drift
    }

    /// Times in nanoseconds between two writings, by what has changed; and after one that failed.
    private static func pause(_ change: Change) -> Int64 { change == .setting ? 1_000_000_000 : 60_000_000_000 }
    private static let recovery: Int64 = 10_000_000_000

    /// Nothing to write, at the program's start; the first setting need not wait.
    init(at now: MonotonicTime) { last = now.advanced(byNanoseconds: -Self.pause(.setting)) }

    mutating func changed(_ change: Change, at now: MonotonicTime) {
        let earliest = max(now, last.advanced(byNanoseconds: Self.pause(change)))
        due = min(due ?? earliest, earliest)
    }

    /// Notes that everything is written.
    mutating func written(at now: MonotonicTime) { (due, last) = (nil, now) }

    /// Notes that the disk did not take it: it is tried again.
    mutating func failed(at now: MonotonicTime) {
        (due, last) = (now.advanced(byNanoseconds: Self.recovery), now)
    }
}
