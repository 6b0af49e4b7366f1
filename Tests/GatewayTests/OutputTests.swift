import ALSASequencer
import BeatTime
import ClockDispatch
import ConfigurationFiles
import MIDIClock
import Testing

@testable import Gateway

@Suite
struct OutputTests {
    @Test(arguments: [
        ("TR-8S", "tr-8s"), ("Elektron Model:Samples", "elektron-model-samples"),
        ("raw:/dev/ttyAMA0", "raw-dev-ttyama0"),
        ("24:0", "24-0"), ("Schlägel", "schl-gel"), ("!", "output"),
    ])
    func `an output's ID is a slug of its name`(name: String, id: String) {
        #expect(Output(name).id == id)
    }

    @Test
    func `names without Latin letters have IDs of their own, whichever comes first`() {
        let names = ["Бас", "Соло 1", "Соло", "ドラム", "Ä"]
        let ids = names.map { Output($0).id }
        #expect(Set(ids).count == names.count)
        #expect(ids.allSatisfy { $0.hasPrefix("output-") && $0.allSatisfy { $0.isASCII } })
        #expect(names.map { Output($0, takenIDs: ids.filter { $0 != Output(names[0]).id }).id }[0] == ids[0])
        #expect(ids[0] == "output-v3gsm8", "IDs are kept in files, so they never change")
    }

    @Test
    func `equal names get a number added`() {
        var taken: [String] = []
        for _ in 0..<3 {
            taken.append(Output("Drums", takenIDs: taken).id)
        }
        #expect(taken == ["drums", "drums-2", "drums-3"])
    }

    @Test
    func `each new connection of a device counts, its removal and staying do not`() {
        var output = Output("Drums")
        let coming = output.setConnected(to: "24:0")
        let staying = output.setConnected(to: "24:0")
        #expect(coming && !staying)
        #expect(output.connections == 1)
        let going = output.setConnected(to: nil)
        #expect(going)
        #expect(output.connections == 1)
        let returning = output.setConnected(to: "24:0")
        #expect(returning)
        #expect(output.connections == 2)
    }

    @Test
    func `no tick is sent for an absent device, unless somebody else is subscribed to its port`() {
        func sink(_ output: Output) -> Sink {
            let line = TickLine(microsecondsPerBeat: 500_000, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)
            var board = OutputBoard(map: TempoMap(line), transport: .stopped)
            board.take([output])
            return board.slots[0].sink
        }
        var output = Output("Drums", .name("Drums"))
        output.sink = .port(0)
        _ = output.setConnected(to: "24:0")
        #expect(sink(output) == .port(0))
        _ = output.setConnected(to: nil)
        #expect(sink(output) == .idle)
        output.hearers = 1
        #expect(sink(output) == .port(0))
        var virtual = Output("Clock")
        virtual.sink = .port(0)
        #expect(sink(virtual) == .port(0))
    }

    @Test
    func `ticks are marked for the requested time, whatever else changes`() {
        let line = TickLine(microsecondsPerBeat: 500_000, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)
        var output = Output("Drums")
        func marks(_ ticks: Range<Int64>) -> [Int64] {
            var board = OutputBoard(map: TempoMap(line), transport: .stopped)
            board.take([output])
            return ticks.map(board.slots[0].plan(.stopped).probe.sign)
        }
        #expect(Set(marks(0..<200)) == [0])
        output.markTicks(seconds: 2, on: line, seed: 1, at: HostTime(microseconds: 1_000_000))
        output.adjust(OutputAdjustment(swing: 60))
        #expect(Set(marks(0..<48)) == [0] && Set(marks(48..<144)) == [-1, 1] && Set(marks(144..<200)) == [0])
        output.markTicks(seconds: 0, on: line, seed: 1, at: HostTime(microseconds: 2_000_000))
        #expect(Set(marks(0..<200)) == [0])
    }

    @Test
    func `an earlier run's offset applies while the configuration is the same, whenever the profile is known`() throws {
        let library = try ProfileLibrary.of(["drums": "clock: { offset: -2 }", "bass": "clock: { offset: 1 }"])
        let drums = try library.profile(id: "drums")
        var output = Output("UM-ONE")
        output.restore(KeptOutput(offset: Replacement(-3_500, insteadOf: -2_000)))
        #expect(output.settings.offset == 0)
        output.recognise(.device(24, "UM-ONE", "UM-ONE MIDI 1"), drums)
        #expect(output.settings.offset == -3_500)
        output.recognise(.device(24, "UM-ONE", "UM-ONE MIDI 1"), try library.profile(id: "bass"))
        #expect(output.settings.offset == 1_000)
    }

    @Test
    func `each setting of an earlier run applies until its configured value is another`() throws {
        let library = try ProfileLibrary.of([
            "drums": "clock: { divide: 3 }", "bass": "clock: { divide: 3, swing: 60 }",
        ])
        var first = Output("UM-ONE")
        first.recognise(.device(24, "UM-ONE", "UM-ONE MIDI 1"), try library.profile(id: "drums"))
        first.adjust(OutputAdjustment(multiply: 2, divide: 4, swing: 58.5, range: 60...180, isEnabled: false))
        var output = Output("UM-ONE")
        output.restore(first.live.kept)
        #expect(output.settings.divide == 1 && !output.isEnabled)
        output.recognise(.device(24, "UM-ONE", "UM-ONE MIDI 1"), try library.profile(id: "drums"))
        #expect(output.settings == first.settings && output.settings.divide == 4 && output.settings.swing == 585)
        output.recognise(.device(24, "UM-ONE", "UM-ONE MIDI 1"), try library.profile(id: "bass"))
        #expect(output.settings.swing == 600 && output.settings.divide == 4 && output.settings.multiply == 2)
        output.adjust(OutputAdjustment(divide: 3, swing: 60))
        #expect(output.live.kept.divide == nil && output.live.kept.swing == nil)
    }

    @Test
    func `a live offset is saved unless it equals the configured one`() {
        var output = Output("Drums")
        output.adjust(OutputAdjustment(nudge: -2.5))
        #expect(output.live.kept.offset == Replacement(-2_500, insteadOf: 0))
        output.adjust(OutputAdjustment(swing: 60))
        #expect(output.settings.offset == -2_500)
        output.adjust(OutputAdjustment(nudge: 2.5))
        #expect(output.live.kept.offset == nil && output.settings.offset == 0)
        for _ in 0..<700 { output.adjust(OutputAdjustment(nudge: 0.1)) }
        #expect(output.settings.offset == 70_000)
    }

    @Test
    func `a shift moves the ticks, and neither shows as the offset nor is kept`() throws {
        var configuration = OutputConfiguration()
        (configuration.hasClockPort, configuration.outputs) = (false, [OutputRequest(.virtual("Drums"))])
        var table = OutputTable(configuration)
        let now = HostTime(microseconds: 0)
        let line = TickLine(microsecondsPerBeat: 500_000, timeOrigin: now, tickOrigin: 0)
        func change(_ adjustment: OutputAdjustment) throws -> [String: KeptOutput] {
            try table.adjust("drums", adjustment, marking: line, at: now)
            table.keepSettings()
            return table.kept
        }
        let kept = try change(OutputAdjustment(offset: 1.5))
        #expect(try change(OutputAdjustment(shift: 7)) == kept && table.all[0].settings.offset == 8_500)
        #expect(table.all[0].offset == 1_500)
        // A nudge meanwhile stays.
        #expect(try change(OutputAdjustment(nudge: 1))["drums"]?.offset == Replacement(2_500, insteadOf: 0))
        #expect(table.all[0].settings.offset == 9_500)
        _ = try change(OutputAdjustment(shift: 0))
        #expect(table.all[0].settings.offset == 2_500 && table.all[0].offset == 2_500)
        _ = try change(OutputAdjustment(offset: 499, shift: 7))
        #expect(table.all[0].settings.offset == 500_000)
    }
}
