/// Keeps a device without a clock, such as `null`, from giving sound as fast as it is read.
///
/// A card never gives sound much faster than time, so it is never paused.
package struct CapturePace {
    /// By how much the sound is ahead of the time, in seconds.
    private var ahead = 0.0
    private var last: Double

    /// More than a card keeps while nobody reads it, in seconds.
    private static let most = 1.0
    /// A card whose crystal is this much faster than it says is not ahead.
    private static let tolerance = 1.1

    /// - Parameter now: seconds on any clock.
    package init(at now: Double) { last = now }

    /// Takes in that sound was read.
    ///
    /// - Parameters:
    ///   - seconds: how long the sound is.
    ///   - now: the time.
    /// - Returns: how long to pause before more is read, in seconds; 0 with any card.
    package mutating func pause(afterReading seconds: Double, at now: Double) -> Double {
        ahead = max(0, ahead - Self.tolerance * (now - last)) + seconds
        last = now
        return max(0, ahead - Self.most)
    }
}
