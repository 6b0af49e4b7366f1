internal import CLinux
internal import Synchronization

/// The newest value of one writer, for one reader that may not wait: three slots and one atomic word.
///
/// The writer fills a slot nobody looks at and swaps it with the middle one; the reader swaps the middle one with its
/// own if it is newer. Neither ever waits for the other and nothing is allocated after `init`.
///
/// The value must be trivially copyable (no references), which `BitwiseCopyable` states.
public final class TripleBuffer<Value: BitwiseCopyable & Sendable>: @unchecked Sendable {
    // Safe because of the protocol below: `writing` belongs to the writer, `reading` to the reader, and slots
    // change hands only by the exchange of `middle`, which releases and acquires.
    private let slots: UnsafeMutablePointer<Value>
    private let middle: Atomic<UInt8>
    /// Counts what was published; at an address of its own, for the reader to sleep on.
    private let editions: UnsafeMutablePointer<Atomic<UInt32>>
    private var writing: UInt8 = 0
    private var reading: UInt8 = 2

    private static var fresh: UInt8 { 4 }

    public init(_ initial: Value) {
        slots = .allocate(capacity: 3)
        slots.initialize(repeating: initial, count: 3)
        middle = Atomic(1)
        editions = .allocate(capacity: 1)
        editions.initialize(to: Atomic(0))
    }

    deinit {
        slots.deallocate()
        editions.deinitialize(count: 1)
        editions.deallocate()
    }

    /// Makes a value the newest; the one writer's thread only.
    public func publish(_ value: Value) {
        slots[Int(writing)] = value
        writing = middle.exchange(writing | Self.fresh, ordering: .acquiringAndReleasing) & 3
        wakeReader()
    }

    /// Ends the reader's waiting although nothing new was published; any thread.
    public func wakeReader() {
        editions.pointee.wrappingAdd(1, ordering: .releasing)
        _ = clinux_futex_wake(editions)
    }

    /// Where the reader sleeps, for those who wake it without Swift.
    var wakingWord: UnsafeMutableRawPointer { UnsafeMutableRawPointer(editions) }

    /// What to wait with: read it before looking at what it stands for.
    public var edition: UInt32 { editions.pointee.load(ordering: .acquiring) }

    /// Sleeps until something is published or a time has come; the one reader's thread only, no lock.
    ///
    /// - Parameters:
    ///   - seen: the ``edition`` known; if there is a newer one already, there is no sleep.
    ///   - deadline: when to return at the latest.
    /// - Returns: whether the deadline ended the sleep.
    public func wait(seen: UInt32, until deadline: MonotonicTime) -> Bool {
        while edition == seen {
            // Interrupted, the call is made again: the deadline is absolute.
            if clinux_futex_wait(editions, seen, deadline.nanoseconds) != 0, MonotonicTime.now() >= deadline {
                return edition == seen
            }
        }
        return false
    }

    /// Gives the newest value to `body`; the one reader's thread only.
    @inline(__always)
    public func withLatest<Result>(_ body: (borrowing Value) -> Result) -> Result {
        if middle.load(ordering: .relaxed) & Self.fresh != 0 {
            reading = middle.exchange(reading, ordering: .acquiringAndReleasing) & 3
        }
        return body(slots[Int(reading)])
    }
}
