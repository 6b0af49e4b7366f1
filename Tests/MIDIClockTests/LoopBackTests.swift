import BeatTime
import Simulation
import Testing

@testable import MIDIClock

@Suite
struct LoopBackTests {
    private static let tick: Int64 = 20_833

    private func times(_ microseconds: [Int64]) -> [HostTime] { microseconds.map(HostTime.init(microseconds:)) }

    /// Ticks at 120 BPM, each up to 1 % early or late by its mark.
    private func marked(_ count: Int) -> [Int64] {
        // Not a seed of the test: marks are decided like a seeded generator's values.
        let mark = Probe(startTick: 0, blockLength: 1, seed: 7_919)
        return (0..<count).map { Int64($0) * Self.tick + mark.sign(ofTick: Int64($0)) * Self.tick / 100 }
    }

    private func measure(_ sent: [Int64], _ returned: [Int64]) throws(LoopBack.Failure) -> LoopBack {
        try LoopBack(sent: times(sent), returned: times(returned))
    }

    @Test(arguments: [Int64(0), 300, 3_000, 20_800, 20_833, 21_000, 62_499, 130_000, 480_000])
    func `a delay of any length is measured, shorter or longer than a tick`(way: Int64) throws {
        let sent = marked(200)
        let measured = try measure(sent, sent.enumerated().map { $1 + way + Int64($0 % 3) * 100 })
        #expect(measured.sent == 200 && measured.returned == 200)
        #expect(measured.median == way + 100)
        #expect(measured.range == way...(way + 200))
        #expect(abs(measured.spread - 81.6) < 1)
    }

    @Test
    func `without a delay, a return stamped slightly before its sending counts as immediate`() throws {
        let sent = marked(200)
        let measured = try measure(sent, sent.enumerated().map { $1 - Int64($0 % 2) * 3 })
        #expect(measured.median == 0 && measured.range == 0...0)
    }

    @Test
    func `an even clock cannot tell a delay from one that is a tick longer`() {
        let sent = (0..<400).map { Int64($0) * Self.tick }
        for way in [Int64(0), 3_000, Self.tick] {
            #expect(throws: LoopBack.Failure.ambiguity(returned: 400)) { try measure(sent, sent.map { $0 + way }) }
        }
    }

    @Test
    func `a spread of nearly a tick hides the marks, and a device's own clock has none`() {
        var random = SeededGenerator(seed: 5)
        let sent = marked(480)
        let scattered = sent.map { $0 + Int64.random(in: 0...Self.tick, using: &random) }
        let own = (0..<480).map { Int64($0) * Self.tick + Int64.random(in: 0...40, using: &random) }
        for returned in [scattered, own, own.map { $0 * 1_001 / 1_000 }] {
            #expect(throws: LoopBack.Failure.ambiguity(returned: 480)) { try measure(sent, returned) }
        }
    }

    @Test(arguments: UInt64(0)..<8)
    func `a device's own clock, however uneven, is never mistaken for the sent one`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let sent = marked(480)
        let unevenness = Int64(seed + 1) * 240
        let phase = Int64.random(in: 0..<Self.tick, using: &random)
        let own = (0..<480).map { Int64($0) * Self.tick + phase + Int64.random(in: 0...unevenness, using: &random) }
        #expect(throws: LoopBack.Failure.ambiguity(returned: 480)) { try measure(sent, own) }
    }

    @Test(arguments: UInt64(0)..<4)
    func `a delay is measured within ten seconds despite half a millisecond of jitter`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sent = marked(480)
        let measured = try measure(sent, sent.map { $0 + 25_000 + Int64.random(in: -500...500, using: &random) })
        #expect(abs(measured.median - 25_000) < 200)
    }

    @Test
    func `swing, changes of tempo, and lost or doubled ticks do not prevent a measurement`() throws {
        var sent: [Int64] = [0]
        for tick in 0..<400 {
            let length = tick < 200 ? Self.tick : 15_000
            sent.append(sent[tick] + (tick / 6 % 2 == 0 ? length * 4 / 3 : length * 2 / 3) + Int64(tick * 7919 % 400))
        }
        var returned = sent.map { $0 + 47_000 }
        returned.removeSubrange(100..<120)
        returned.insert(returned[50] + 900, at: 51)
        let measured = try measure(sent, returned)
        #expect(measured.median == 47_000 && measured.range == 47_000...47_900)
        #expect(measured.sent == 401 && measured.returned == 382)
    }

    @Test
    func `pulses farther apart than the longest delay are recognized without marks, if there are enough`() throws {
        let sent = (0..<20).map { Int64($0) * 2_000_000 }
        #expect(try measure(sent, sent.map { $0 + 30_000 }).median == 30_000)
        #expect(throws: LoopBack.Failure.ambiguity(returned: 9)) {
            try measure(sent, sent.prefix(9).map { $0 + 30_000 })
        }
        let early = sent.map { $0 - 30_000 }
        #expect(throws: LoopBack.Failure.ambiguity(returned: 20)) { try measure(sent, early) }
    }

    @Test
    func `without returning ticks there is no result`() {
        let sent = marked(100)
        #expect(throws: LoopBack.Failure.silence) { try measure(sent, []) }
        #expect(throws: LoopBack.Failure.silence) { try measure([], sent) }
        #expect(throws: LoopBack.Failure.ambiguity(returned: 1)) { try measure(sent, [700_000]) }
    }
}
