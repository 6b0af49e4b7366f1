import ALSASequencer
import ClockDispatch
import ConfigurationFiles
import GatewayStatus
import MIDIClock
import Testing

@testable import Gateway

/// Which outputs a realignment is for, and what a device that has gone is said to do.
@Suite
struct RealignTests {
    private func rack(_ profiles: [String: String] = [:]) throws -> OutputRack {
        var none = OutputWishes()
        (none.hasClockPort, none.connectsRecognised) = (false, false)
        var wishes = none
        wishes.library = try .of(profiles)
        wishes.outputs = ["Drums", "Bass"].map { name in
            var request = OutputRequest(.name(name))
            request.profile = wishes.library.profiles.first { $0.id == name.lowercased() }
            return request
        }
        var rack = OutputRack(none, needsSequencer: false)
        rack.configure(wishes, devices: [])
        return rack
    }

    private func connect(_ rack: inout OutputRack, _ slots: Int...) {
        for slot in slots { _ = rack.outputs[slot].setConnected(to: "2\(slot):0") }
    }

    private func refusal(_ rack: inout OutputRack, _ id: String?, isPlaying: Bool = true) -> String? {
        do throws(CommandRefusal) {
            try rack.realign(id, .atBar, isPlaying: isPlaying)
            return nil
        } catch {
            return error.description
        }
    }

    private func asked(_ rack: borrowing OutputRack) -> [UInt32] { rack.outputs.map(\.realigning.number) }

    @Test
    func `what is away, silent or stopped is not realigned, and says so`() throws {
        var rack = try rack(["bass": "transport: { start: none }"])
        #expect(refusal(&rack, "drums") == "Drums is not connected")
        #expect(refusal(&rack, nil) == "nothing is connected")
        connect(&rack, 0, 1)
        #expect(refusal(&rack, "drums", isPlaying: false) == "nothing is playing")
        #expect(refusal(&rack, nil, isPlaying: false) == "nothing is playing")
        #expect(refusal(&rack, "bass") == "Bass cannot be told its place in the song, by its profile")
        rack.outputs[0].adjust(OutputAdjustment(isEnabled: false))
        #expect(refusal(&rack, "drums") == "Drums is not playing")
        #expect(refusal(&rack, "tuba")?.hasPrefix("no output is called tuba") == true)
        #expect(asked(rack) == [0, 0])
    }

    @Test
    func `a realignment of all leaves out those that are away`() throws {
        var rack = try rack()
        connect(&rack, 1)
        #expect(refusal(&rack, nil) == nil)
        #expect(asked(rack) == [0, 1])
    }

    @Test
    func `a machine that was unplugged is said to come back as its profile and the song have it`() throws {
        var rack = try rack(["bass": "transport: { start: none }"])
        for slot in 0...1 {
            _ = rack.outputs[slot].setConnected(to: "2\(slot):0")
            rack.outputs[slot].recognise(.device(20 + slot, "Box", "Box MIDI 1", card: slot), nil)
            #expect(!rack.outputs[slot].hasLostDevice)
            _ = rack.outputs[slot].setConnected(to: nil)
            #expect(rack.outputs[slot].hasLostDevice)
        }
        let (drums, bass) = (rack.outputs[0], rack.outputs[1])
        #expect(
            drums.lossWarning(isPlaying: true).message
                == "Drums was unplugged. It rejoins at the next bar when it is back.")
        #expect(
            drums.lossWarning(isPlaying: false).message
                == "Drums was unplugged. It hears the clock again when it is back.")
        #expect(
            bass.lossWarning(isPlaying: true).message
                == "Bass was unplugged. It hears the clock again when it is back.")
        connect(&rack, 0)
        #expect(!rack.outputs[0].hasLostDevice)
    }

    @Test
    func `a program that has gone was not unplugged`() throws {
        var output = Output("Softsynth", .named("Softsynth"))
        _ = output.setConnected(to: "130:0")
        output.recognise(.device(130, "Softsynth", "In"), nil)
        _ = output.setConnected(to: nil)
        #expect(output.lossWarning(isPlaying: false).message.hasPrefix("Softsynth has gone. "))
    }
}
