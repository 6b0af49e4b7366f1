import BeatTime
import MIDIClock
import Testing

@Suite struct ProbeTests {
    @Test func `a probe moves ticks by 1 % at most, keeps their order and the gaps a device needs`() {
        for tempo in [20.0, 120, 300, 999] {
            for (multiply, divide, swing) in [(1, 1, 500), (1, 1, 750), (4, 1, 500), (16, 1, 600), (1, 3, 500)] {
                var settings = OutputSettings()
                (settings.multiply, settings.divide, settings.swing) = (Int64(multiply), Int64(divide), Int64(swing))
                let plain = ticks(tempo, settings, .none)
                let probed = ticks(tempo, settings, Probe(startTick: 10, blockLength: 1, seed: 5))
                let moves = zip(plain, probed).map { $1 - $0 }
                let percent = Int64(2_500_000 / tempo / 100)
                #expect(plain.count == probed.count)
                #expect(moves.allSatisfy { abs($0) <= percent + 1 })
                #expect(moves.contains { $0 != 0 }, "\(tempo) BPM, \(multiply) for \(divide), swing \(swing)")
                let shortest = zip(plain.dropFirst(), plain).map { $0 - $1 }.min() ?? 0
                let gaps = zip(probed.dropFirst(), probed).map { $0 - $1 }
                #expect(
                    gaps.allSatisfy { $0 >= min(2_000, shortest * 4 / 5) }, "\(tempo) BPM, \(multiply) for \(divide)")
            }
        }
    }

    @Test func `a probe tosses a fair coin for every block, starting at its first tick`() {
        let probe = Probe(startTick: 100, blockLength: 4, seed: 77)
        #expect((0..<100).allSatisfy { probe.sign(ofTick: $0) == 0 })
        let signs = (100..<40_100).map { probe.sign(ofTick: $0) }
        #expect(signs.allSatisfy { abs($0) == 1 })
        #expect(abs(signs.reduce(0, +)) < 4 * 500)
        #expect(stride(from: 0, to: signs.count, by: 4).allSatisfy { Set(signs[$0..<$0 + 4]).count == 1 })
        let other = Probe(startTick: 100, blockLength: 4, seed: 78)
        let agreement = (100..<40_100).reduce(0) { $0 + probe.sign(ofTick: $1) * other.sign(ofTick: $1) }
        #expect(abs(agreement) < 4 * 500)
    }

    /// When the first ticks of an output are sent.
    private func ticks(_ tempo: Double, _ settings: OutputSettings, _ probe: Probe) -> [Int64] {
        let map = TempoMap(line(beatsPerMinute: tempo, timeOrigin: 50_000))
        let plan = OutputPlan(transport: .stopped, settings: settings, probe: probe)
        var planner = TickPlanner()
        var now = HostTime(microseconds: 0)
        return (0..<400).compactMap { _ in
            guard let next = planner.next(plan, on: map, at: now) else { return nil }
            now = max(now, next.due)
            planner.sent(next, at: now)
            return next.due.microseconds
        }
    }
}
