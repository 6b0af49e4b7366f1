public import BeatTime
internal import Glibc

/// A time on CLOCK_MONOTONIC in nanoseconds: the clock of sleeps, timers and the sequencer queue.
///
/// It is not Link's clock. The two run apart, because this one is slewed to follow the world's time.
///
/// ```swift
/// let deadline = MonotonicTime.now().advanced(byNanoseconds: 1_000_000)
/// MonotonicTime.sleep(until: deadline)
/// assert(MonotonicTime.now() >= deadline)
/// ```
@frozen
public struct MonotonicTime: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    @inlinable
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    @inlinable
    public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    @inlinable
    public func advanced(byNanoseconds distance: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds &+ distance)
    }

    public static func now() -> MonotonicTime { MonotonicTime(nanoseconds: reading(of: CLOCK_MONOTONIC)) }

    /// Sleeps until an absolute time; returns at once if it has passed.
    ///
    /// - Parameter deadline: the earliest time of return. A signal does not shorten the sleep.
    public static func sleep(until deadline: MonotonicTime) {
        var time = timespec(
            tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
        // The deadline is absolute, so sleeping again after a signal loses nothing.
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}

extension HostTime {
    /// The present host time; any thread, no allocation.
    public static func now() -> HostTime {
        HostTime(microseconds: reading(of: CLOCK_MONOTONIC_RAW) / 1000)
    }
}

/// Both clocks read at one moment, to convert host time to the clock that can be slept on.
///
/// The clocks drift apart by up to 500 parts per million, or 10 % while the time is being adjusted. A reading therefore
/// includes their rate, learned from an earlier one, and is repeated after some milliseconds.
///
/// ```swift
/// let reading = ClockReading.take()
/// let due = reading.hostTime.advanced(byMicroseconds: 2_000)
/// MonotonicTime.sleep(until: reading.monotonicTime(of: due))
/// ```
public struct ClockReading: Sendable {
    /// CLOCK_MONOTONIC at the moment of reading.
    public var monotonic: MonotonicTime
    /// CLOCK_MONOTONIC_RAW in nanoseconds at the same moment.
    public var rawNanoseconds: Int64
    /// Rate of monotonic time over raw time minus 1, in units of 2^-24.
    private(set) var drift: Int64 = 0

    /// Shortest distance of two readings to learn the rate from, in nanoseconds; over less, reading errors dominate.
    private static let leastBaseline: Int64 = 2_000_000

    /// Reads raw time between two readings of monotonic time, three times, and keeps the tightest pair.
    ///
    /// - Parameter earlier: a reading to learn the clocks' rate from.
    /// - Returns: the reading.
    public static func take(after earlier: ClockReading? = nil) -> ClockReading {
        var best = ClockReading(monotonic: MonotonicTime(nanoseconds: 0), rawNanoseconds: 0)
        var narrowest = Int64.max
        for _ in 0..<3 {
            let before = reading(of: CLOCK_MONOTONIC)
            let raw = reading(of: CLOCK_MONOTONIC_RAW)
            let width = reading(of: CLOCK_MONOTONIC) - before
            if width < narrowest {
                narrowest = width
                best = ClockReading(monotonic: MonotonicTime(nanoseconds: before + width / 2), rawNanoseconds: raw)
            }
        }
        if let earlier { best.learnDrift(from: earlier) }
        return best
    }

    /// Learns the clocks' rate since an earlier reading.
    mutating func learnDrift(from earlier: ClockReading) {
        let raw = rawNanoseconds - earlier.rawNanoseconds
        // Longer ago the rate may have been different, and the product would overflow.
        guard raw >= Self.leastBaseline, raw < 1_000_000_000 else { return drift = earlier.drift }
        let gained = monotonic.nanoseconds - earlier.monotonic.nanoseconds - raw
        let measured = (gained << 24) / raw
        drift = min(max(measured, -Self.largestDrift), Self.largestDrift)
    }

    private static let largestDrift: Int64 = 1 << 21

    /// The host time of the reading.
    public var hostTime: HostTime { HostTime(microseconds: rawNanoseconds / 1000) }

    /// The monotonic time at which a host time begins; exact for the next second or so.
    public func monotonicTime(of time: HostTime) -> MonotonicTime {
        let distance = time.microseconds &* 1000 &- rawNanoseconds
        return monotonic.advanced(byNanoseconds: distance &+ (distance &* drift) >> 24)
    }

    /// The host time that a monotonic time falls into.
    public func hostTime(of time: MonotonicTime) -> HostTime {
        let distance = time.nanoseconds - monotonic.nanoseconds
        return HostTime(microseconds: (rawNanoseconds + (distance << 24) / (1 << 24 + drift)) / 1000)
    }
}

/// The time of day in milliseconds since 1970, which may be set back or forth.
package func millisecondsSince1970() -> Int64 { reading(of: CLOCK_REALTIME) / 1_000_000 }

/// A clock's reading in nanoseconds.
private func reading(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
