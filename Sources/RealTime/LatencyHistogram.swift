internal import BeatTime
internal import Synchronization

/// Counts durations in microseconds; one thread records, any thread reads.
///
/// Each microsecond up to 16 has its own bucket. Above, each octave has eight, so a result is at most an eighth too
/// high. Anything longer than a second counts as a second. Recording allocates nothing.
///
/// ```swift
/// let lateness = LatencyHistogram()
/// for microseconds: Int64 in [3, 4, 5, 40] { lateness.record(microseconds: microseconds) }
/// assert(lateness.quantile(0.5) == 4)
/// assert(lateness.maximum == 40)
/// ```
public struct LatencyHistogram: ~Copyable, Sendable {
    /// As many as ``scale`` has.
    private let buckets = InlineArray<144, Atomic<UInt32>> { _ in Atomic(0) }
    private let longest = Atomic<Int64>(0)
    private let sum = Atomic<Int64>(0)

    public init() {}

    /// Clears all counts; on the recording thread.
    public func reset() {
        for index in buckets.indices { buckets[index].store(0, ordering: .relaxed) }
        longest.store(0, ordering: .relaxed)
        sum.store(0, ordering: .relaxed)
    }

    /// Counts a duration; a negative one counts as 0.
    public func record(microseconds: Int64) {
        let duration = max(0, microseconds)
        buckets[Self.scale.index(of: duration)].wrappingAdd(1, ordering: .relaxed)
        sum.wrappingAdd(duration, ordering: .relaxed)
        if duration > longest.load(ordering: .relaxed) { longest.store(duration, ordering: .relaxed) }
    }

    /// The longest duration recorded, in microseconds.
    public var maximum: Int64 { longest.load(ordering: .relaxed) }

    /// The duration that a share of all recorded ones does not exceed.
    ///
    /// - Parameter share: 0 to 1; 0.5 asks for the median.
    /// - Returns: microseconds, rounded up to the bucket's end; nil if nothing was recorded.
    public func quantile(_ share: Double) -> Int64? {
        var total = 0
        for index in buckets.indices { total += Int(buckets[index].load(ordering: .relaxed)) }
        guard total > 0 else { return nil }
        let wanted = Int((Double(total) * share).rounded(.up))
        var seen = 0
        for index in buckets.indices {
            seen += Int(buckets[index].load(ordering: .relaxed))
            if seen >= wanted { return min(Self.scale.upperEnd(of: index), maximum) }
        }
        return maximum
    }

    /// Sum of all recorded durations, in microseconds.
    public var total: Int64 { sum.load(ordering: .relaxed) }

    /// Number of durations between limits.
    ///
    /// - Parameter limits: microseconds, rising powers of two.
    /// - Returns: the number below each limit and not below the one before; the last counts the rest.
    public func counts(below limits: [Int64]) -> [Int] {
        var counts = [Int](repeating: 0, count: limits.count + 1)
        var place = 0
        for index in buckets.indices {
            while place < limits.count, Self.scale.upperEnd(of: index) >= limits[place] { place += 1 }
            counts[place] += Int(buckets[index].load(ordering: .relaxed))
        }
        return counts
    }

    private static var scale: LogBuckets { LogBuckets(bits: 3, octaves: 20) }
}
