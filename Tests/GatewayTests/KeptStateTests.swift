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
        state.offsets["tr-8s"] = Replacement(-3_500, insteadOf: -2_000)
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
        #expect(state.tempo == nil && state.offsets.isEmpty && state.playing.isEmpty)
    }

    @Test(arguments: [
        "", "{", "[]", "null", "\u{0}\u{0}", #"{"link":true}"#, #"{"version":1,"link":7}"#,
        #"{"version":1,"tempo":5000}"#,
        #"{"version":1,"quantum":{"value":-1,"insteadOf":4}}"#,
        #"{"version":1,"follow":{"value":"","insteadOf":"auto"}}"#,
        #"{"version":1,"offsets":{"x":{"value":501,"insteadOf":0}}}"#, #"{"version":1,"offsets":[]}"#,
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
