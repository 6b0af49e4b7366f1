import BeatTime
import Testing

@testable import MIDIClock

@Suite
struct LoopBackTests {
    private func times(_ microseconds: [Int64]) -> [HostTime] { microseconds.map(HostTime.init(microseconds:)) }

    @Test
    func `the delay is from each tick to the newest sent before it`() throws {
        let sent = times((0..<100).map { $0 * 20_833 })
        let returned = times((0..<100).map { $0 * 20_833 + 3_000 + $0 % 3 * 100 })
        let measured = try #require(LoopBack(sent: sent, returned: returned))
        #expect(measured.sent == 100 && measured.returned == 100)
        #expect(measured.median == 3_100)
        #expect(measured.range == 3_000...3_200)
        #expect(abs(measured.spread - 81.6) < 1)
    }

    @Test
    func `what is lost on the way, or came before anything was sent, is no delay`() throws {
        let sent = times([1_000, 21_000, 41_000, 61_000])
        let measured = try #require(LoopBack(sent: sent, returned: times([500, 23_000, 63_500])))
        #expect(measured.range == 2_000...2_500)
        #expect(measured.returned == 3)
    }

    @Test
    func `nothing that comes back is nothing to say`() {
        #expect(LoopBack(sent: times([1, 2]), returned: []) == nil)
        #expect(LoopBack(sent: [], returned: times([1, 2])) == nil)
    }
}
