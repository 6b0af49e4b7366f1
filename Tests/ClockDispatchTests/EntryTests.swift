import BeatTime
import MIDIClock
import RealTime
import Simulation
import Testing

@testable import ClockDispatch

/// Where devices enter and leave songs must not depend on the way that messages are sent.
@Suite
struct EntryTests {
    /// Songs that start, move and stop, devices that return, are realigned or turned off, all at random.
    ///
    /// - Returns: for two outputs, what their devices were sent besides ticks, and after how many ticks.
    private static func entries(_ dispatchCase: DispatchCase, seed: UInt64) -> [[String]] {
        var random = SeededGenerator(seed: seed)
        let stage = DispatchStage(dispatchCase, outputs: 2)
        stage.kernel.delay = { 500 }
        stage.board.slots[1].settings.offset = .random(in: -12_000...12_000, using: &random)
        stage.board.slots[1].settings.isClockAlwaysOn = .random(using: &random)
        stage.board.slots[1].settings.preroll = .random(in: 0...4, using: &random)
        stage.board.slots[1].settings.takesSongPosition = .random(using: &random)
        var at = stage.kernel.now + 300_000_000
        for _ in 0..<12 {
            at += .random(in: 1_000_000...200_000_000, using: &random)
            let tick = stage.board.map.line.firstTick(
                atOrAfter: HostTime(microseconds: (at - stage.kernel.apart) / 1000))
            let transport = PlannedTransport(
                isPlaying: Int.random(in: 0..<3, using: &random) > 0,
                startTick: tick + .random(in: -30...6, using: &random), ticksPerBar: 24)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: stage.changes.append((at, { $0.slots[1].connections += 1 }))
            case 1: stage.changes.append((at, { $0.slots[0].realigning.ask(.atBar) }))
            case 2: stage.changes.append((at, { $0.slots[1].isEnabled.toggle() }))
            default: stage.changes.append((at, { $0.transport = transport }))
            }
        }
        stage.run(milliseconds: (at - stage.kernel.now) / 1_000_000 + 40)
        return [UInt8(0), 1].map { port in
            var ticks = 0
            // How far the last tick before the end comes depends on the way.
            return stage.messages(port).filter { $0.time < at + 20_000_000 }.compactMap {
                ticks += $0.message == .timingClock ? 1 : 0
                switch $0.message {
                case .timingClock: return nil
                case .stop: return "stop"
                default: return "\($0.message) after \(ticks)"
                }
            }
        }
    }

    /// With these seeds, no change comes so shortly before a message that it depends on the way whether it is sent.
    @Test(arguments: [UInt64](1...300))
    func `a device enters a song at the same tick, whichever way messages are sent`(seed: UInt64) {
        let direct = Self.entries(.direct, seed: seed)
        for dispatchCase in DispatchCase.all.dropFirst() {
            #expect(Self.entries(dispatchCase, seed: seed) == direct, "\(dispatchCase)")
        }
    }
}
