import MIDIClock
import Testing

@testable import ClockDispatch

/// What a device left playing by a crashed run is sent, once it is known what to do.
@Suite
struct RecoveredDeviceTests {
    /// The messages to a device left playing, if the new run decides after 300 ms.
    ///
    /// - Parameters:
    ///   - isPlaying: whether the song plays then.
    ///   - change: changes the settings from those of a device that supports everything.
    /// - Returns: all messages, in order.
    private func told(isPlaying: Bool, _ change: (inout OutputSettings) -> Void = { _ in }) -> [ClockMessage] {
        let stage = DispatchStage(mode: .direct)
        stage.board.slots[0].sink = .idle
        stage.board.slots[0].connections = 1
        change(&stage.board.slots[0].settings)
        stage.changes = [
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
        // At its end, `run` stops a playing device.
        let messages = stage.messages().compactMap(\.message)
        return isPlaying ? messages.dropLast() : messages
    }

    @Test
    func `a playing song is entered at a bar, after a Stop`() throws {
        let messages = told(isPlaying: true)
        #expect(messages.first == .stop)
        let words = messages.filter { $0 != .timingClock }
        try #require(words.count == 3)
        #expect(words.last == .continue)
        guard case .songPosition(let sixteenths) = words[1] else {
            Issue.record("no song position but \(words)")
            return
        }
        #expect(sixteenths > 0 && sixteenths % 16 == 0)
    }

    @Test
    func `an output that was sent nothing for a while joins the song at a bar`() {
        let stage = DispatchStage(mode: .direct)
        stage.board.transport = PlannedTransport(isPlaying: true, startTick: 0, ticksPerBar: 96)
        stage.changes = [
            (stage.kernel.now + 200_000_000, { $0.slots[0].sink = .idle }),
            (stage.kernel.now + 300_000_000, { $0.slots[0].sink = .port(0) }),
        ]
        stage.run(milliseconds: 3_000)
        // At its end, `run` stops a playing device.
        let words = stage.messages().map(\.message).filter { $0 != .timingClock }
        #expect(words == [.start, .stop, .songPosition(16), .continue, .stop])
    }

    @Test
    func `without a song a device is stopped before its first tick, and gets the clock`() {
        let messages = told(isPlaying: false)
        #expect(messages.first == .stop)
        #expect(messages.count > 100 && messages.dropFirst().allSatisfy { $0 == .timingClock })
    }

    @Test
    func `a device that does not support Stop gets none`() {
        let messages = told(isPlaying: false) { $0.sendsStop = false }
        #expect(messages.count > 100 && messages.allSatisfy { $0 == .timingClock })
    }
}
