/// A piece of sound from a sound card.
package struct SoundBlock: Sendable {
    /// The samples of each channel listened to; full scale is 1.
    package var channels: [[Float]]
    /// How the card's samples relate to this machine's clock; nil if the driver does not tell.
    package var stamp: Stamp?

    /// How many samples there were at some time, by the driver.
    package struct Stamp: Hashable, Sendable {
        /// Since the first of the stream.
        package var samples: Int
        /// CLOCK_MONOTONIC_RAW.
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
