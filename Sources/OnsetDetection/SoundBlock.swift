/// Samples from a sound card.
package struct SoundBlock: Sendable {
    /// The samples of each channel that is used; full scale is 1.
    package var channels: [[Float]]
    /// How the card's samples relate to this machine's clock; nil if the driver does not report it.
    package var stamp: Stamp?

    /// The number of samples taken by a certain time, as the driver reports it.
    package struct Stamp: Hashable, Sendable {
        /// Number of samples of one channel since the start of the stream.
        package var samples: Int
        /// The time in microseconds of CLOCK_MONOTONIC_RAW.
        package var microseconds: Double

        package init(samples: Int, microseconds: Double) {
            self.samples = samples
            self.microseconds = microseconds
        }
    }

    package init(channels: [[Float]], stamp: Stamp?) {
        self.channels = channels
        self.stamp = stamp
    }
}
