import Testing

@testable import Gateway

@Suite
struct NudgeRoomTests {
    private let room = NudgeRoom([("Drums", 499_000), ("Bass", 0), ("Lead", -20_250)])

    @Test(arguments: [-479.75, -1, 0, 0.5, 1])
    func `a nudge that keeps every output in its range is allowed, up to the limits`(nudge: Double) {
        #expect(room.refusal(of: nudge) == nil)
    }

    @Test(arguments: [
        (1.001, "Drums is at 499"), (-479.751, "Lead is at -20.25"), (501, "Drums is at 499, Bass is at 0"),
        (-1_000, "Drums is at 499, Bass is at 0, Lead is at -20.25"),
    ])
    func `a nudge out of range names the outputs, and what is possible for all`(nudge: Double, names: String) {
        #expect(
            room.refusal(of: nudge)?.description
                == "nothing was moved: an offset is -500 to 500 ms, and \(names); a nudge can be -479.75 to 1 ms now")
    }

    @Test
    func `steps of 0.1 ms add up to the end of the range`() {
        var offset: Int64 = 499_000
        for _ in 0..<10 {
            #expect(NudgeRoom([("Drums", offset)]).refusal(of: 0.1) == nil)
            offset += microseconds(0.1)
        }
        #expect(offset == 500_000)
        #expect(NudgeRoom([("Drums", offset)]).refusal(of: 0.001) != nil)
    }

    @Test
    func `without outputs no nudge is refused`() { #expect(NudgeRoom([]).refusal(of: 1_000) == nil) }
}
