/// Limits how fast sound is read from a device without a clock, such as `null`.
///
/// Such a device delivers sound as fast as it is read, and the thread would never rest. A real card delivers sound
/// only as fast as it records it, so reading it is never paused.
package struct CapturePace {
    /// How much more sound was read than time has passed, in seconds.
    private var ahead = 0.0
    /// The time of the last call, in seconds.
    private var last: Double

    /// Sound that may be read ahead of time without a pause, in seconds; more than a card usually buffers.
    private static let most = 1.0
    /// A card counts as ahead only if it is faster than its nominal sample rate by more than this factor.
    private static let tolerance = 1.1

    /// - Parameter now: seconds on any clock.
    package init(at now: Double) { last = now }

    /// Counts sound that was read.
    ///
    /// - Parameters:
    ///   - seconds: the length of the sound.
    ///   - now: the time in seconds, on the same clock as before.
    /// - Returns: how long to wait before the next read, in seconds; 0 for a real card.
    package mutating func pause(afterReading seconds: Double, at now: Double) -> Double {
        ahead = max(0, ahead - Self.tolerance * (now - last)) + seconds
        last = now
        return max(0, ahead - Self.most)
    }
}
