import MIDIClock
import Testing

@testable import ClockDispatch

/// What a device is told that a crashed run has left playing, and that hears nothing until it is known what to do.
@Suite
struct RecoveredDeviceTests {
    /// What a device is told by a run that finds it left playing and decides 300 ms after its start.
    ///
    /// - Parameters:
    ///   - isPlaying: whether the song plays then.
    ///   - change: makes the device another than one that knows everything.
    /// - Returns: all messages, in their order.
    private func told(isPlaying: Bool, _ change: (inout OutputSettings) -> Void = { _ in }) -> [ClockMessage] {
        let stage = DispatchStage(mode: .direct)
        stage.board.slots[0].sink = .away
        stage.board.slots[0].connections = 1
        change(&stage.board.slots[0].settings)
        stage.news = [
            (
                stage.kernel.now + 300_000_000,
                { board in
                    board.slots[0].sink = .port(0)
                    board.slots[0].connections += 1
                    let transport = PlannedTransport(isPlaying: isPlaying, startTick: 0, ticksPerBar: 96)
                    board.transport = isPlaying ? transport : .stopped
                }
            )
        ]
        stage.run(milliseconds: 299)
        #expect(stage.kernel.delivered.isEmpty, "it hears nothing until it is known what to do")
        stage.run(milliseconds: 3_000)
        // The last word is that of the run's end.
        let messages = stage.messages().map(\.message)
        return isPlaying ? messages.dropLast() : messages
    }

    @Test
    func `a song that plays is entered at a bar, after a Stop`() {
        let messages = told(isPlaying: true)
        #expect(messages.first == .stop)
        let words = messages.filter { $0 != .timingClock }
        #expect(words.count == 3 && words.last == .continue)
        guard case .songPosition(let sixteenths) = words[1] else {
            Issue.record("no song position but \(words)")
            return
        }
        #expect(sixteenths > 0 && sixteenths % 16 == 0)
    }

    @Test
    func `without a song a device is stopped before its first tick, and hears the clock`() {
        let messages = told(isPlaying: false)
        #expect(messages.first == .stop)
        #expect(messages.count > 100 && messages.dropFirst().allSatisfy { $0 == .timingClock })
    }

    @Test
    func `a device that knows no Stop gets none`() {
        #expect(told(isPlaying: false) { $0.sendsStop = false }.allSatisfy { $0 == .timingClock })
    }
}
