import ALSASequencer
import BeatTime
import ClockDispatch
import ConfigurationFiles
import GatewayStatus
import MIDIClock
import Testing

@testable import Gateway

/// Which outputs are realigned, and what is reported about a removed device.
@Suite
struct RealignTests {
    private func table(_ profiles: [String: String] = [:]) throws -> OutputTable {
        var none = OutputConfiguration()
        (none.hasClockPort, none.connectsRecognised) = (false, false)
        var configuration = none
        configuration.library = try .of(profiles)
        configuration.outputs = ["Drums", "Bass"].map { name in
            var request = OutputRequest(.name(name))
            request.profile = configuration.library.profiles.first { $0.id == name.lowercased() }
            return request
        }
        var table = OutputTable(none)
        table.configure(configuration, devices: [])
        return table
    }

    private func connect(_ table: inout OutputTable, _ slots: Int...) {
        for slot in slots { _ = table.all[slot].setConnected(to: "2\(slot):0") }
    }

    private func refusal(_ table: inout OutputTable, _ id: String?, isPlaying: Bool = true) -> String? {
        do throws(CommandError) {
            try table.realign(id, .atBar, isPlaying: isPlaying)
            return nil
        } catch {
            return error.description
        }
    }

    private func asked(_ table: OutputTable) -> [UInt32] { table.all.map(\.realigning.number) }

    @Test
    func `absent, disabled or stopped outputs are not realigned, with the reason`() throws {
        var table = try table(["bass": "transport: { start: none }"])
        #expect(refusal(&table, "drums") == "Drums is not connected")
        #expect(refusal(&table, nil) == "nothing is connected")
        connect(&table, 0, 1)
        #expect(refusal(&table, "drums", isPlaying: false) == "nothing is playing; 'tactus play' starts the song")
        #expect(refusal(&table, nil, isPlaying: false) == "nothing is playing; 'tactus play' starts the song")
        #expect(
            refusal(&table, "bass") == "Bass cannot be realigned: its profile allows neither Start nor Song Position")
        table.all[0].adjust(OutputAdjustment(isEnabled: false))
        #expect(refusal(&table, "drums") == "Drums does not play: it is switched off or muted, or it leads")
        #expect(refusal(&table, "tuba")?.hasPrefix("no output is called tuba") == true)
        #expect(asked(table) == [0, 0])
    }

    @Test
    func `realigning all skips absent devices`() throws {
        var table = try table()
        connect(&table, 1)
        #expect(refusal(&table, nil) == nil)
        #expect(asked(table) == [0, 1])
    }

    @Test
    func `for an unplugged machine the warning says how it returns, by its profile and the song`() throws {
        var table = try table(["bass": "transport: { start: none }"])
        for slot in 0...1 {
            _ = table.all[slot].setConnected(to: "2\(slot):0")
            table.all[slot].recognise(.device(20 + slot, "Box", "Box MIDI 1", card: slot), nil)
            #expect(!table.all[slot].hasLostDevice)
            _ = table.all[slot].setConnected(to: nil)
            #expect(table.all[slot].hasLostDevice)
        }
        let (drums, bass) = (table.all[0], table.all[1])
        #expect(
            drums.loss(isPlaying: true).message
                == "Drums was unplugged. It rejoins at the next bar when it is back.")
        #expect(
            drums.loss(isPlaying: false).message
                == "Drums was unplugged. It hears the clock again when it is back.")
        #expect(
            bass.loss(isPlaying: true).message
                == "Bass was unplugged. It hears the clock again when it is back.")
        connect(&table, 0)
        #expect(!table.all[0].hasLostDevice)
    }

    @Test
    func `a program that ended was not unplugged`() throws {
        var output = Output("Softsynth", .name("Softsynth"))
        _ = output.setConnected(to: "130:0")
        output.recognise(.device(130, "Softsynth", "In"), nil)
        _ = output.setConnected(to: nil)
        #expect(output.loss(isPlaying: false).message.hasPrefix("Softsynth has gone. "))
    }
}
