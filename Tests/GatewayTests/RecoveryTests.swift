import BeatTime
import ClockDispatch
import MIDIClock
import Testing

@testable import Gateway

/// What devices are told that a crashed run has left playing.
@Suite
struct RecoveryTests {
    private static let start = HostTime(microseconds: 5_000_000)

    private func after(milliseconds: Int64) -> HostTime {
        Self.start.advanced(byMicroseconds: milliseconds * 1_000)
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

    @Test
    func `an output that is held back has nowhere to send, and its device comes anew once it is released`() {
        let line = TickLine(microsecondsPerBeat: 500_000, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)
        var board = OutputBoard(map: TempoMap(line), transport: .stopped)
        var output = output("Drums")
        output.holdBack()
        board.take([output])
        let heldBack = board.slots[0]
        output.release()
        board.take([output])
        #expect(heldBack.sink == .away && board.slots[0].sink == .port(0))
        #expect(board.slots[0].connections == heldBack.connections + 1)
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
