import Essentials
import MIDIClock
import Testing

@testable import Gateway

/// The format of the state file.
@Suite
struct KeptStateTests {
    private static var full: KeptState {
        var state = KeptState()
        (state.link, state.startStopSync, state.tempo) = (false, true, 97.3)
        state.quantum = Replacement(3, insteadOf: 4)
        state.follow = Replacement("MPC One", insteadOf: "auto")
        state.outputs["tr-8s"] = KeptOutput(
            offset: Replacement(-3_500, insteadOf: -2_000), multiply: Replacement(2, insteadOf: 1),
            divide: Replacement(1, insteadOf: 96), swing: Replacement(585, insteadOf: 500),
            tempos: TempoRange(60...180.5).flatMap { Replacement($0, insteadOf: .all) })
        state.outputs["clock"] = KeptOutput(offset: Replacement(1, insteadOf: 0))
        state.outputs["lights"] = KeptOutput(isOff: true)
        (state.playing, state.isInSong) = (["clock", "tr-8s"], true)
        return state
    }

    @Test(arguments: [KeptState(), full])
    func `saved state is read back unchanged`(state: KeptState) throws {
        #expect(try KeptState(json: state.json) == state)
    }

    @Test
    func `a file of an earlier version with fewer keys is read`() throws {
        let state = try KeptState(json: Array(#"{"version":1,"link":false,"news":[1]}"#.utf8))
        #expect(state.link == false)
        #expect(state.tempo == nil && state.outputs.isEmpty && state.playing.isEmpty)
    }

    @Test
    func `offsets are read, and written, where earlier versions have them`() throws {
        let old = #"{"version":1,"offsets":{"tr-8s":{"value":-3.5,"insteadOf":-2}}}"#
        let state = try KeptState(json: Array(old.utf8))
        #expect(state.outputs == ["tr-8s": KeptOutput(offset: Replacement(-3_500, insteadOf: -2_000))])
        struct Earlier: Decodable {
            var version: Int
            var offsets: [String: Replacement<Double>]
        }
        let read = try JSON.value(Earlier.self, from: Self.full.json)
        #expect(read.version == 1)
        #expect(read.offsets["tr-8s"] == Replacement(-3.5, insteadOf: -2) && read.offsets["lights"] == nil)
    }

    @Test
    func `an output's settings are written in the units that people use`() throws {
        let text = """
            {"version":1,"outputs":{"tr-8s":{"divide":{"value":2,"insteadOf":1},"swing":{"value":58.5,"insteadOf":50},
            "range":{"value":[60,180],"insteadOf":[20,999]}},"lights":{"enabled":false}}}
            """
        let state = try KeptState(json: Array(text.utf8))
        let range = try #require(TempoRange(lowest: 60_000, highest: 180_000))
        let drums = KeptOutput(
            divide: Replacement(2, insteadOf: 1), swing: Replacement(585, insteadOf: 500),
            tempos: Replacement(range, insteadOf: .all))
        #expect(state.outputs == ["tr-8s": drums, "lights": KeptOutput(isOff: true)])
        let written = String(decoding: state.json.filter { !" \n".utf8.contains($0) }, as: UTF8.self)
        #expect(written.contains(#""range":{"insteadOf":[20,999],"value":[60,180]}"#))
        #expect(written.contains(#""swing":{"insteadOf":50,"value":58.5}"#))
    }

    @Test(arguments: [
        "", "{", "[]", "null", "\u{0}\u{0}", #"{"link":true}"#, #"{"version":1,"link":7}"#,
        #"{"version":1,"tempo":5000}"#,
        #"{"version":1,"quantum":{"value":-1,"insteadOf":4}}"#,
        #"{"version":1,"follow":{"value":"","insteadOf":"auto"}}"#,
        #"{"version":1,"offsets":{"x":{"value":501,"insteadOf":0}}}"#, #"{"version":1,"offsets":[]}"#,
        #"{"version":1,"outputs":[]}"#, #"{"version":1,"outputs":{"x":{"multiply":{"value":0,"insteadOf":1}}}}"#,
        #"{"version":1,"outputs":{"x":{"multiply":{"value":1.5,"insteadOf":1}}}}"#,
        #"{"version":1,"outputs":{"x":{"divide":{"value":2,"insteadOf":97}}}}"#,
        #"{"version":1,"outputs":{"x":{"swing":{"value":1e300,"insteadOf":50}}}}"#,
        #"{"version":1,"outputs":{"x":{"range":{"value":[60,100],"insteadOf":[20,999]}}}}"#,
        #"{"version":1,"outputs":{"x":{"range":{"value":[180,60],"insteadOf":[20,999]}}}}"#,
        #"{"version":1,"outputs":{"x":{"range":{"value":[60,1e300],"insteadOf":[20,999]}}}}"#,
        #"{"version":1,"outputs":{"x":{"enabled":0}}}"#,
        #"{"version":1,"outputs":{\#((0...256).map { "\"\($0)\":{\"enabled\":false}" }.joined(separator: ","))}}"#,
        #"{"version":1,"playing":7}"#,
        #"{"version":1,"playing":[\#((0...64).map { "\"\($0)\"" }.joined(separator: ","))]}"#,
        #"{"version":2,"link":true}"#, String(repeating: "[", count: 100_000),
    ])
    func `a damaged, newer or foreign file is refused as a whole`(text: String) {
        #expect(throws: KeptState.Unreadable.self) { try KeptState(json: Array(text.utf8)) }
    }

    @Test
    func `a newer file is told from a damaged one`() {
        #expect(throws: KeptState.Unreadable(reason: "a newer version of Tactus wrote it")) {
            try KeptState(json: Array(#"{"version":2,"link":{}}"#.utf8))
        }
    }

    @Test
    func `a live setting applies until the configuration changes, and is none if it equals the configured one`() throws
    {
        let setting = try #require(Replacement(3.0, insteadOf: 4))
        #expect(setting.value(over: 4) == 3)
        #expect(setting.value(over: 8) == nil)
        #expect(Replacement(4.0, insteadOf: 4) == nil)
    }
}
