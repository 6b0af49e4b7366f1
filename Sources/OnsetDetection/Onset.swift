/// The beginning of a sound: a click, or a hit on a drum.
package struct Onset: Hashable, Sendable {
    /// When it began, in samples since the first of the stream; may lie between two samples.
    package var time: Double
    /// How far the time may be off because the sound rises slowly out of what else is there, in samples.
    package var error: Double
    /// Greatest magnitude of its first 10 ms; full scale is 1.
    package var peak: Double
    /// How many times louder it is than what sounded just before.
    package var clearness: Double
    /// Whether the recording clips there: its level is then unknown, its time is not.
    package var isClipped: Bool

    package init(time: Double, error: Double, peak: Double, clearness: Double, isClipped: Bool) {
        self.time = time
        self.error = error
        self.peak = peak
        self.clearness = clearness
        self.isClipped = isClipped
    }
}
