import BeatTime
import ClockDispatch
import MIDIClock
import Testing

@testable import Gateway

/// What devices left playing by a crashed run are sent.
@Suite
struct RecoveryTests {
    private static let start = HostTime(microseconds: 5_000_000)

    private func after(milliseconds: Int64) -> HostTime {
        Self.start.advanced(byMicroseconds: milliseconds * 1_000)
    }

    @Test
    func `joining a session ends the wait at once`() {
        var recovery = Recovery(isNeeded: true, at: Self.start)
        let early = recovery.endIfOver(isLinkOn: true, isConnected: false, at: after(milliseconds: 100))
        let joined = recovery.endIfOver(isLinkOn: true, isConnected: true, at: after(milliseconds: 200))
        let again = recovery.endIfOver(isLinkOn: true, isConnected: true, at: after(milliseconds: 201))
        #expect(!early && joined && !again)
        #expect(recovery.deadline == nil)
    }

    @Test
    func `without peers the wait ends after 1.5 seconds`() {
        var recovery = Recovery(isNeeded: true, at: Self.start)
        #expect(recovery.deadline == after(milliseconds: 1_500))
        let early = recovery.endIfOver(isLinkOn: true, isConnected: false, at: after(milliseconds: 1_499))
        let due = recovery.endIfOver(isLinkOn: true, isConnected: false, at: after(milliseconds: 1_500))
        #expect(!early && due)
    }

    @Test
    func `there is no wait without Link, nor if nothing was left playing`() {
        var recovery = Recovery(isNeeded: true, at: Self.start)
        let offline = recovery.endIfOver(isLinkOn: false, isConnected: false, at: Self.start)
        #expect(offline)
        recovery = Recovery(isNeeded: false, at: Self.start)
        let needless = recovery.endIfOver(isLinkOn: true, isConnected: true, at: after(milliseconds: 2_000))
        #expect(!needless && recovery.deadline == nil)
    }

    @Test
    func `an output that is held back sends nowhere, and its device counts as new once released`() {
        let line = TickLine(microsecondsPerBeat: 500_000, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)
        var board = OutputBoard(map: TempoMap(line), transport: .stopped)
        var output = output("Drums")
        output.holdBack()
        board.take([output])
        let heldBack = board.slots[0]
        output.release()
        board.take([output])
        #expect(heldBack.sink == .idle && board.slots[0].sink == .port(0))
        #expect(board.slots[0].connections == heldBack.connections + 1)
    }

    // Saved state.

    private func output(_ name: String, on sink: Sink = .port(0), _ change: (inout Output) -> Void = { _ in }) -> Output
    {
        var output = Output(name)
        output.sink = sink
        _ = output.setConnected(to: "24:0")
        change(&output)
        return output
    }

    /// Saves while devices obey, unless they may play.
    ///
    /// The output thread already uses that board, unless it is behind.
    private func update(
        _ started: inout StartedDevices, _ outputs: [Output], isPlaying: Bool, board generation: UInt64,
        inUse: UInt64? = nil, mayPlay: Set<Int> = []
    ) -> Set<String> {
        let line = TickLine(microsecondsPerBeat: 500_000, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)
        var board = OutputBoard(map: TempoMap(line), transport: .stopped)
        board.transport.isPlaying = isPlaying
        board.generation = generation
        started.update(outputs, board, report(inUse ?? generation, mayPlay))
        return started.ids
    }

    private func report(_ generation: UInt64, _ mayPlay: Set<Int>) -> OutputReport {
        OutputReport(generationInUse: generation, mayPlay: mayPlay.reduce(0) { $0 | 1 << UInt64($1) })
    }

    @Test
    func `a device counts as started while its song plays`() {
        var started = StartedDevices()
        let playing = update(&started, [output("Drums"), output("Bass")], isPlaying: true, board: 1)
        #expect(playing == ["drums", "bass"])
        let silenced = output("Bass") { $0.adjust(OutputAdjustment(isEnabled: false)) }
        let one = update(&started, [output("Drums"), silenced], isPlaying: true, board: 2)
        #expect(one == ["drums"])
        let none = update(&started, [output("Drums"), output("Bass")], isPlaying: false, board: 3)
        #expect(none == [] && !started.awaitsStop)
    }

    @Test
    func `a device told to stop counts until it has accepted its Stop`() {
        var started = StartedDevices()
        let outputs = [output("Drums"), output("Bass")]
        _ = update(&started, outputs, isPlaying: true, board: 1)
        let behind = update(&started, outputs, isPlaying: false, board: 2, inUse: 1)
        #expect(behind == ["drums", "bass"] && started.awaitsStop)
        let stopping = update(&started, outputs, isPlaying: false, board: 2, mayPlay: [0, 1])
        #expect(stopping == ["drums", "bass"] && started.awaitsStop)
        let refusing = update(&started, outputs, isPlaying: false, board: 3, mayPlay: [1])
        #expect(refusing == ["bass"] && started.awaitsStop)
        let stopped = update(&started, outputs, isPlaying: false, board: 4)
        #expect(stopped == [] && !started.awaitsStop)
    }

    @Test
    func `a device that did not accept the last Stop of a run is left to the next run`() {
        var started = StartedDevices()
        let outputs = [output("Drums"), output("Bass"), output("Keys")]
        _ = update(&started, outputs, isPlaying: true, board: 1)
        started.end([outputs[0], outputs[1], output("Keys", on: .idle)], report(1, [1, 2]))
        #expect(started.ids == ["bass"])
    }

    @Test
    func `a device removed while playing may still play, until it can be stopped`() {
        var started = StartedDevices()
        _ = update(&started, [output("Drums")], isPlaying: true, board: 1)
        let away = update(&started, [output("Drums", on: .idle)], isPlaying: false, board: 2)
        #expect(away == ["drums"] && !started.awaitsStop)
        let back = update(&started, [output("Drums")], isPlaying: false, board: 3)
        #expect(back == [])
    }

    @Test
    func `a device that is held back stays as the crashed run left it`() {
        var started = StartedDevices(["drums"])
        let kept = update(&started, [output("Drums") { $0.holdBack() }], isPlaying: false, board: 1)
        #expect(kept == ["drums"])
    }

    @Test
    func `an absent subscriber and a device without Stop are not saved`() {
        var started = StartedDevices()
        var silent = Output("Clock")
        silent.sink = .port(0)
        let kept = update(&started, [silent], isPlaying: true, board: 1)
        #expect(kept == [])
    }
}
