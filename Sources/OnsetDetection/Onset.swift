/// The beginning of a sound: a click, or a hit on a drum.
package struct Onset: Hashable, Sendable {
    /// When it began, in samples since the start of the stream; may lie between two samples.
    package var time: Double
    /// Possible error of the time, in samples; larger if the sound rises slowly out of noise.
    package var error: Double
    /// Largest magnitude of its first 10 ms; full scale is 1.
    package var peak: Double
    /// How many times louder it is than the sound just before.
    package var clearness: Double
    /// Whether the recording clips there; then its level is unknown, but its time is still right.
    package var isClipped: Bool

    package init(time: Double, error: Double, peak: Double, clearness: Double, isClipped: Bool) {
        self.time = time
        self.error = error
        self.peak = peak
        self.clearness = clearness
        self.isClipped = isClipped
    }
}
