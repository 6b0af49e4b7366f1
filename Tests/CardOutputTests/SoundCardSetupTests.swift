import Pulses
import Testing

@testable import ALSASequencer
@testable import CardOutput

@Suite
struct SoundCardSetupTests {
    private static let settings = PulseSettings([PulseLine(.run)])
    private static let first = SoundCard.Device(card: 0, number: 0, subdevice: 0)
    private static let second = SoundCard.Device(card: 0, number: 1, subdevice: 0)

    /// One output on a card, with its name as its ID.
    private func setup(_ device: String, _ channel: Int) -> SoundCardSetup {
        let part = SoundCardSetup.Part(
            output: "\(device)/\(channel)", slot: channel, occupant: 1, settings: Self.settings, channels: [channel])
        return SoundCardSetup(device: device, parts: [part])
    }

    @Test
    func `two names for one card are one card, as long as both mean it`() throws {
        let setups = [setup("hw:0", 1), setup("default", 1), setup("hw:CARD=ES8", 3), setup("hw:0,1", 4)]
        let devices = ["hw:0": Self.first, "hw:CARD=ES8": Self.first, "hw:0,1": Self.second]
        let joined = SoundCardSetup.joined(setups, devices)
        #expect(joined.map(\.names) == [["hw:0", "hw:CARD=ES8"], ["default"], ["hw:0,1"]])
        #expect(joined[0].parts.map(\.channels) == [[1], [3]] && joined[0].channelCount == 3)
        #expect(SoundCardSetup.joined(setups, [:]) == setups, "it is unplugged")
    }

    @Test
    func `of outputs for the same channel, the first one plays, and the others on the card do, too`() throws {
        var setups = [setup("hw:0", 1), setup("hw:CARD=ES8", 1), setup("hw:0,0", 2)]
        setups[1].parts += setup("hw:CARD=ES8", 3).parts
        let devices = ["hw:0": Self.first, "hw:CARD=ES8": Self.first, "hw:0,0": Self.first]
        let joined = SoundCardSetup.joined(setups, devices)
        #expect(joined.map(\.names) == [["hw:0", "hw:CARD=ES8", "hw:0,0"]])
        #expect(joined[0].parts.map(\.output) == ["hw:0/1", "hw:CARD=ES8/3", "hw:0,0/2"])
        #expect(joined[0].taken == ["hw:CARD=ES8/1": .init(channel: 1, output: "hw:0/1")])
    }
}
