import BeatTime
import MIDIClock
import RealTime
import Simulation
import Testing

@testable import ClockDispatch

/// Where devices enter and leave songs must not depend on the way that messages are sent.
@Suite
struct EntryTests {
    /// Songs that start and stop at random; each Start is announced longer before than anything is put into the queue.
    ///
    /// - Returns: for two outputs, what their devices were sent besides ticks, and with which tick of the session.
    private static func entries(_ dispatchCase: DispatchCase, seed: UInt64) -> [[String]] {
        var random = SeededGenerator(seed: seed)
        let stage = DispatchStage(dispatchCase, outputs: 2)
        stage.kernel.delay = { 500 }
        stage.board.slots[1].settings.offset = .random(in: -12_000...12_000, using: &random)
        stage.board.slots[1].settings.isClockAlwaysOn = .random(using: &random)
        stage.board.slots[1].settings.takesSongPosition = .random(using: &random)
        var at = stage.kernel.now + 300_000_000
        for number in 0..<12 {
            at += .random(in: 300_000_000...500_000_000, using: &random)
            let tick = stage.board.map.line.firstTick(
                atOrAfter: HostTime(microseconds: (at - stage.kernel.apart) / 1000))
            let transport = PlannedTransport(
                isPlaying: number % 2 == 0, startTick: tick + .random(in: 5...14, using: &random), ticksPerBar: 24)
            stage.changes.append((at, { $0.transport = transport }))
        }
        stage.run(milliseconds: (at - stage.kernel.now) / 1_000_000 + 40)
        return [UInt8(0), 1].map { port in
            let messages = stage.messages(port)
            return messages.enumerated().compactMap { index, sent in
                switch sent.message {
                case .timingClock: return nil
                case .stop: return "stop"
                default:
                    let tick = stage.tick(of: messages[(index + 1)...].first, port)
                    return "\(sent.event) with \(tick.map(String.init) ?? "none")"
                }
            }
        }
    }

    @Test(arguments: [UInt64](1...60))
    func `a device enters a song at its first tick, whichever way messages are sent`(seed: UInt64) {
        let direct = Self.entries(.direct, seed: seed)
        for dispatchCase in DispatchCase.all.dropFirst() {
            #expect(Self.entries(dispatchCase, seed: seed) == direct, "\(dispatchCase)")
        }
    }
}
