internal import ALSASequencer
package import Pulses

/// A sound card, and what outputs play on it.
package struct SoundCardSetup: Hashable, Sendable {
    /// libasound's name of the card, such as `hw:CARD=ES8`.
    package var device: String
    /// Other names of it that outputs use.
    private(set) var otherNames: [String] = []
    package var parts: [Part]
    /// The outputs that are away because another one has a channel of theirs, by their IDs.
    private(set) var taken: [String: TakenChannel] = [:]

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

    /// A channel that another output plays on already, by another name of the card.
    package struct TakenChannel: Hashable, Sendable {
        /// Counted from 1.
        package var channel: Int
        /// The ID of the output that has it.
        package var output: String

        package init(channel: Int, output: String) { (self.channel, self.output) = (channel, output) }
    }

    /// The highest channel that is played on, counted from 1.
    package var channelCount: Int { parts.flatMap(\.channels).max() ?? 1 }

    /// All its names.
    var names: [String] { [device] + otherNames }

    /// Makes one setup of those for one device, such as `hw:0` and `hw:CARD=ES8`: a card can be opened once.
    ///
    /// - Parameters:
    ///   - setups: one for each name; the first output for a channel gets it.
    ///   - devices: what the names mean; a name that is not here stays by itself.
    /// - Returns: the setups, in the same order.
    static func joined(_ setups: [SoundCardSetup], _ devices: [String: SoundCard.Device]) -> [SoundCardSetup] {
        setups.reduce(into: []) { joined, setup in
            let device = devices[setup.device]
            let index = device == nil ? nil : joined.firstIndex { devices[$0.device] == device }
            guard let index else { return joined.append(setup) }
            joined[index].otherNames.append(setup.device)
            for part in setup.parts { joined[index].add(part) }
        }
    }

    private mutating func add(_ part: Part) {
        for other in parts {
            if let channel = part.channels.first(where: other.channels.contains) {
                taken[part.output] = TakenChannel(channel: channel, output: other.output)
                return
            }
        }
        parts.append(part)
    }
}
