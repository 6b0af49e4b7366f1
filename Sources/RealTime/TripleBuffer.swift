internal import CLinux
internal import Synchronization

/// The newest value of one writer, for one reader that must not wait: three slots and one atomic word.
///
/// The writer fills its own slot and swaps it with the middle one. The reader swaps the middle one with its own if it
/// is newer. Neither ever waits for the other, and nothing is allocated after `init`.
///
/// The value must be trivially copyable (no references), which `BitwiseCopyable` guarantees.
///
/// ```swift
/// let newest = TripleBuffer(0)
/// newest.publish(7)
/// newest.publish(8)
/// assert(newest.withLatest { $0 } == 8)
/// ```
public final class TripleBuffer<Value: BitwiseCopyable & Sendable>: @unchecked Sendable {
    // Safe: `writing` belongs to the writer and `reading` to the reader. Slots change hands only by exchanging
    // `middle`, with release and acquire ordering.
    private let slots: UnsafeMutablePointer<Value>
    private let middle: Atomic<UInt8>
    /// Counts published values; at an address of its own, for the reader to wait on.
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

    /// Publishes a value; the writer's thread only.
    public func publish(_ value: Value) {
        slots[Int(writing)] = value
        writing = middle.exchange(writing | Self.fresh, ordering: .acquiringAndReleasing) & 3
        wakeReader()
    }

    /// Ends the reader's wait without a new value; any thread.
    public func wakeReader() {
        editions.pointee.wrappingAdd(1, ordering: .releasing)
        _ = clinux_futex_wake(editions)
    }

    /// The word that the reader waits on, to wake it from C.
    var wakingWord: UnsafeMutableRawPointer { UnsafeMutableRawPointer(editions) }

    /// The number to wait with; read it before the value.
    ///
    /// While it is the same, no newer value has been announced.
    public var edition: UInt32 { editions.pointee.load(ordering: .acquiring) }

    /// Sleeps until something is published or a deadline passes; the reader's thread only, no lock.
    ///
    /// - Parameters:
    ///   - seen: the last ``edition`` read; returns at once if there is a newer one.
    ///   - deadline: latest return.
    /// - Returns: whether the deadline ended the sleep.
    public func wait(seen: UInt32, until deadline: MonotonicTime) -> Bool {
        while edition == seen {
            // An interrupted call is repeated: the deadline is absolute.
            if clinux_futex_wait(editions, seen, deadline.nanoseconds) != 0, MonotonicTime.now() >= deadline {
                return edition == seen
            }
        }
        return false
    }

    /// Passes the newest value to `body`; the reader's thread only.
    @inline(__always)
    public func withLatest<Result>(_ body: (borrowing Value) -> Result) -> Result {
        if middle.load(ordering: .relaxed) & Self.fresh != 0 {
            reading = middle.exchange(reading, ordering: .acquiringAndReleasing) & 3
        }
        return body(slots[Int(reading)])
    }
}
