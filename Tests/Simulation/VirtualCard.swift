/// A simulated sound card that plays at its own rate, and whose driver says late how far it is.
package struct VirtualCard: Sendable {
    package let sampleRate: Double
    /// By how much the card is faster than that, in parts per million.
    package let partsPerMillion: Double
    /// The driver's number of frames grows in steps of so many.
    private let step: Int
    /// A report is late by up to so many microseconds, at random.
    private let delay: Double
    private var random: SeededGenerator
    /// What frame 0 is played at, in microseconds of the host time.
    private var start = 0.0

    package init(
        sampleRate: Double = 48_000, partsPerMillion: Double, step: Int = 1, delay: Double = 0, random: SeededGenerator
    ) {
        (self.sampleRate, self.partsPerMillion, self.step, self.delay) = (sampleRate, partsPerMillion, step, delay)
        self.random = random.split("card")
    }

    /// Frames per microsecond.
    private var rate: Double { sampleRate * (1 + partsPerMillion / 1e6) / 1e6 }

    /// When a frame is played, in microseconds of the host time.
    package func time(ofFrame frame: Double) -> Double { start + frame / rate }

    /// What the driver says at a time, some ms after which it is asked again: the frames played, and when.
    package mutating func report(at microseconds: Double) -> (frames: Int, at: Double) {
        let late = Double.random(in: 0...max(delay, 0), using: &random)
        let played = Int((microseconds - late - start) * rate)
        return (played / step * step, microseconds)
    }

    /// How late a thread wakes, in microseconds: up to 1 ms.
    package mutating func lateness() -> Double { Double.random(in: 0...1_000, using: &random) }

    /// Stands still for a time, in microseconds.
    package mutating func stall(_ microseconds: Double) { start += microseconds }
}
