internal import ALSASequencer
package import Pulses

/// A sound card, and what outputs play on it.
package struct SoundCardSetup: Hashable, Sendable {
    /// libasound's name of the card, such as `hw:CARD=ES8`.
    package var device: String
    /// Other names of it that outputs use.
    private(set) var otherNames: [String] = []
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

    /// All its names.
    var names: [String] { [device] + otherNames }

    /// Makes one setup of those for one device, such as `hw:0` and `hw:CARD=ES8`: a card can be opened once.
    ///
    /// - Parameters:
    ///   - setups: one for each name.
    ///   - devices: what the names mean; a name that is not here stays by itself, and so does one for channels that are
    ///     taken already.
    /// - Returns: the setups, in the same order.
    static func joined(_ setups: [SoundCardSetup], _ devices: [String: SoundCard.Device]) -> [SoundCardSetup] {
        setups.reduce(into: []) { joined, setup in
            let device = devices[setup.device]
            let index = joined.firstIndex { other in
                device != nil && devices[other.device] == device
                    && Set(other.parts.flatMap(\.channels)).isDisjoint(with: setup.parts.flatMap(\.channels))
            }
            guard let index else { return joined.append(setup) }
            joined[index].otherNames.append(setup.device)
            joined[index].parts += setup.parts
        }
    }
}
