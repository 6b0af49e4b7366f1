internal import RealTime

/// When to write the state: soon, but seldom enough that turning a knob does not wear out a memory card.
struct WriteSchedule: Hashable, Sendable {
    /// When to write; nil if nothing has changed.
    private(set) var due: MonotonicTime?
    private var last: MonotonicTime

    /// What changed.
    enum Change: Hashable, Sendable {
        /// A setting by the user.
        case setting
        /// Something that changes by itself, perhaps constantly, such as a session's tempo.
        case drift
    }

    /// Shortest time between two writes in nanoseconds, by kind of change.
    private static func pause(_ change: Change) -> Int64 { change == .setting ? 1_000_000_000 : 60_000_000_000 }
    /// Wait after a failed write, in nanoseconds.
    private static let recovery: Int64 = 10_000_000_000

    /// Nothing to write yet; the first setting is written without delay.
    init(at now: MonotonicTime) { last = now.advanced(byNanoseconds: -Self.pause(.setting)) }

    mutating func changed(_ change: Change, at now: MonotonicTime) {
        let earliest = max(now, last.advanced(byNanoseconds: Self.pause(change)))
        due = min(due ?? earliest, earliest)
    }

    /// Notes that everything was written.
    mutating func written(at now: MonotonicTime) { (due, last) = (nil, now) }

    /// Notes that a write failed; it is tried again.
    mutating func failed(at now: MonotonicTime) {
        (due, last) = (now.advanced(byNanoseconds: Self.recovery), now)
    }
}
