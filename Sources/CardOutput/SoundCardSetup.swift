package import Pulses

/// A sound card, and what outputs play on it.
package struct SoundCardSetup: Hashable, Sendable {
    /// libasound's name of the card, such as `hw:CARD=ES8`.
    package var device: String
    package var parts: [Part]

    package init(device: String, parts: [Part]) { (self.device, self.parts) = (device, parts) }

    /// What one output plays.
    package struct Part: Hashable, Sendable {
        /// The output's ID.
        package var output: String
        /// Its slot on the board, and its number there; another output may follow in the slot.
        package var slot: Int
        package var occupant: UInt32
        package var settings: PulseSettings
        /// The channel of each line, counted from 1.
        package var channels: [Int]

        package init(output: String, slot: Int, occupant: UInt32, settings: PulseSettings, channels: [Int]) {
            (self.output, self.slot, self.occupant) = (output, slot, occupant)
            (self.settings, self.channels) = (settings, channels)
        }

        /// Whether a card with so many channels has all of its own.
        func fits(on count: Int) -> Bool { channels.allSatisfy { $0 <= count } }
    }

    /// The highest channel that is played on, counted from 1.
    package var channelCount: Int { parts.flatMap(\.channels).max() ?? 1 }
}
