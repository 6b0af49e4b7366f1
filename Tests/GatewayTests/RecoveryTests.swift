import BeatTime
import MIDIClock
import RealTime
import Testing

@testable import Gateway

/// What devices are told that a crashed run has left playing.
@Suite
struct RecoveryTests {
    private static let start = MonotonicTime(nanoseconds: 5_000_000_000)

    private func after(milliseconds: Int64) -> MonotonicTime {
        Self.start.advanced(byNanoseconds: milliseconds * 1_000_000)
    }

    @Test
    func `a session that is joined ends the waiting at once`() {
        var recovery = Recovery(isNeeded: true, at: Self.start)
        let early = recovery.ends(isLinkOn: true, isConnected: false, at: after(milliseconds: 100))
        let joined = recovery.ends(isLinkOn: true, isConnected: true, at: after(milliseconds: 200))
        let again = recovery.ends(isLinkOn: true, isConnected: true, at: after(milliseconds: 201))
        #expect(!early && joined && !again)
        #expect(recovery.deadline == nil)
    }

    @Test
    func `where nobody is, the waiting ends after a second and a half`() {
        var recovery = Recovery(isNeeded: true, at: Self.start)
        #expect(recovery.deadline == after(milliseconds: 1_500))
        let early = recovery.ends(isLinkOn: true, isConnected: false, at: after(milliseconds: 1_499))
        let due = recovery.ends(isLinkOn: true, isConnected: false, at: after(milliseconds: 1_500))
        #expect(!early && due)
    }

    @Test
    func `without Link there is nothing to wait for, nor where nothing was left playing`() {
        var recovery = Recovery(isNeeded: true, at: Self.start)
        let offline = recovery.ends(isLinkOn: false, isConnected: false, at: Self.start)
        #expect(offline)
        recovery = Recovery(isNeeded: false, at: Self.start)
        let needless = recovery.ends(isLinkOn: true, isConnected: true, at: after(milliseconds: 2_000))
        #expect(!needless && recovery.deadline == nil)
    }

    /// What a device is told by a run that finds it left playing and decides 300 ms after its start.
    ///
    /// - Parameters:
    ///   - isPlaying: whether the song plays then.
    ///   - change: makes the device another than one that knows everything.
    /// - Returns: all messages, in their order.
    private func told(isPlaying: Bool, _ change: (inout OutputSettings) -> Void = { _ in }) -> [ClockMessage] {
        let stage = DispatchStage(mode: .direct)
        var output = Output("Drums")
        output.sink = .port(0)
        output.holdBack()
        _ = output.setConnected(to: "24:0")
        var settings = output.settings
        change(&settings)
        stage.board.take([output])
        stage.board.slots[0].settings = settings
        stage.news = [
            (
                stage.kernel.now + 300_000_000,
                { board in
                    output.release()
                    board.take([output])
                    board.slots[0].settings = settings
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

    // What is kept.

    private func output(_ name: String, on sink: Sink = .port(0), _ change: (inout Output) -> Void = { _ in }) -> Output
    {
        var output = Output(name)
        output.sink = sink
        _ = output.setConnected(to: "24:0")
        change(&output)
        return output
    }

    @Test
    func `a device counts as started while its song plays`() {
        var started = StartedDevices()
        started.update([output("Drums"), output("Bass")], isPlaying: true)
        #expect(started.ids == ["drums", "bass"])
        started.update(
            [output("Drums"), output("Bass") { $0.adjust(OutputAdjustment(isEnabled: false)) }], isPlaying: true)
        #expect(started.ids == ["drums"])
        started.update([output("Drums"), output("Bass")], isPlaying: false)
        #expect(started.ids.isEmpty)
    }

    @Test
    func `a device that went away while it played stays one that may play, until it can be stopped`() {
        var started = StartedDevices()
        started.update([output("Drums")], isPlaying: true)
        started.update([output("Drums", on: .away)], isPlaying: false)
        #expect(started.ids == ["drums"])
        started.update([output("Drums")], isPlaying: false)
        #expect(started.ids.isEmpty)
    }

    @Test
    func `one that is held back stays as the crashed run left it`() {
        var started = StartedDevices(["drums"])
        started.update([output("Drums") { $0.holdBack() }], isPlaying: false)
        #expect(started.ids == ["drums"])
    }

    @Test
    func `nobody there, and a device that knows no Stop, are nothing to keep`() {
        var started = StartedDevices()
        var silent = Output("Clock")
        silent.sink = .port(0)
        started.update([silent], isPlaying: true)
        #expect(started.ids.isEmpty)
    }
}
