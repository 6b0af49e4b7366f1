internal import Synchronization

/// The newest value of one writer, for one reader that may not wait: three slots and one atomic word.
///
/// The writer fills a slot nobody looks at and swaps it with the middle one; the reader swaps the middle one with its
/// own if it is newer. Neither ever waits for the other and nothing is allocated after `init`.
///
/// The value must be trivially copyable (no references), which `BitwiseCopyable` states.
public final class Snapshot<Value: BitwiseCopyable & Sendable>: @unchecked Sendable {
    // Safe because of the protocol below: `writing` belongs to the writer, `reading` to the reader, and slots
    // change hands only by the exchange of `middle`, which releases and acquires.
    private let slots: UnsafeMutablePointer<Value>
    private let middle: Atomic<UInt8>
    private var writing: UInt8 = 0
    private var reading: UInt8 = 2

    private static var fresh: UInt8 { 4 }

    public init(_ initial: Value) {
        slots = .allocate(capacity: 3)
        slots.initialize(repeating: initial, count: 3)
        middle = Atomic(1)
    }

    deinit { slots.deallocate() }

    /// Makes a value the newest; the one writer's thread only.
    public func publish(_ value: Value) {
        slots[Int(writing)] = value
        writing = middle.exchange(writing | Self.fresh, ordering: .acquiringAndReleasing) & 3
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
