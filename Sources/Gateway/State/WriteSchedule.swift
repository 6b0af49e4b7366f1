internal import RealTime

/// When to write the state: soon, but seldom enough that turning a knob does not wear out a memory card.
struct WriteSchedule: Hashable, Sendable {
    /// When to write; nil if nothing has changed.
    private(set) var due: MonotonicTime?
    private var last: MonotonicTime
    /// When the write that is under way began.
    private var began: MonotonicTime?
    private var hasFailed = false

    /// What changed.
    enum Change: Hashable, Sendable {
        /// A device that is about to play, of which the disk does not know it yet. If this run were killed, the next one
        /// would not stop the device.
        case start
        /// A setting by the user.
        case setting
        /// Something that changes by itself, perhaps constantly, such as a session's tempo.
        case drift
    }

    /// Shortest time between two writes in nanoseconds.
    private func pause(_ change: Change) -> Int64 {
        switch change {
        case .start where !hasFailed: 0
        case .start, .setting: 1_000_000_000
        case .drift: 60_000_000_000
        }
    }
    /// Wait after a failed write, in nanoseconds.
    private static let recovery: Int64 = 10_000_000_000
    /// Time after which a disk counts as hanging, in nanoseconds; a busy memory card may take seconds.
    private static let patience: Int64 = 5_000_000_000

    /// Nothing to write yet; the first setting is written without delay.
    init(at now: MonotonicTime) { last = now.advanced(byNanoseconds: -1_000_000_000) }

    mutating func changed(_ change: Change, at now: MonotonicTime) {
        let earliest = max(now, last.advanced(byNanoseconds: pause(change)))
        due = min(due ?? earliest, earliest)
    }

    /// Notes that everything is being written.
    mutating func begins(at now: MonotonicTime) { (due, last, began) = (nil, now, now) }

    /// Notes that it was written.
    mutating func succeeded() { (began, hasFailed) = (nil, false) }

    /// Notes that it could not be written; it is tried again.
    mutating func failed(at now: MonotonicTime) {
        (began, hasFailed) = (nil, true)
        (due, last) = (now.advanced(byNanoseconds: Self.recovery), now)
    }

    /// Whether the disk has not answered for a long time.
    func isHanging(at now: MonotonicTime) -> Bool {
        began.map { $0.advanced(byNanoseconds: Self.patience) <= now } == true
    }
}
