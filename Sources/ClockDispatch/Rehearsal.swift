internal import ALSASequencer
internal import BeatTime
internal import MIDIClock
internal import RealTime

/// Plays a song without sending it to anyone, before the output thread starts.
///
/// This loads the code for Start, Stop and relocation. Otherwise the first Start would have to wait for the disk.
enum Rehearsal {
    /// Plays a few seconds of virtual time: clock only, Start, a jump of the grid, a stall, Stop.
    static func play() {
        var planner = TickPlanner()
        var now = HostTime(microseconds: 0)
        let line = TickLine(microsecondsPerBeat: 500_000, timeOrigin: now, tickOrigin: 0)
        let jumped = TickLine(microsecondsPerBeat: 400_000, timeOrigin: now, tickOrigin: 50)
        let playing = PlannedTransport(isPlaying: true, startTick: 48, ticksPerBar: 96)
        for (line, transport) in [(line, .stopped), (line, playing), (jumped, playing), (jumped, .stopped)] {
            let plan = OutputPlan(transport: transport, settings: OutputSettings())
            let map = TempoMap(line)
            let end = now.advanced(byMicroseconds: 1_500_000)
            while now < end, let planned = planner.next(plan, on: map, at: now) {
                now = max(now, planned.due)
                planner.sent(planned, at: now)
                if now.microseconds % 2 == 0 { planner.refused() } else { planner.taken() }
            }
            now = now.advanced(byMicroseconds: 300_000)
        }
        planner.deviceConnected(isReturning: true)
        _ = planner.finish()
    }

    /// Lets the queue send a few ticks from a port without receivers, and takes others back in time.
    ///
    /// - Parameter machine: the owner of the queue.
    /// - Returns: the machine again.
    static func dispatch(_ machine: consuming KernelMachine) -> KernelMachine {
        let counters = PageArray(count: 1) { _ in OutputCounters() }
        let line = TickLine(microsecondsPerBeat: 60_060, timeOrigin: machine.hostTime(), tickOrigin: 0)
        let transport = PlannedTransport(isPlaying: true, startTick: 6, ticksPerBar: 96)
        var board = OutputBoard(map: TempoMap(line), transport: transport)
        board.count = 1
        board.slots[0].sink = .port(SequencerSender.witness)
        var dispatcher = Dispatcher(machine: machine, way: DispatchWay(mode: .backstop), counters: counters)
        dispatcher.take(board)
        for turn in 0..<32 {
            if turn == 16 { dispatcher.change(to: DispatchWay(mode: .queue)) }
            let deadline = dispatcher.turn()
            MonotonicTime.sleep(until: deadline.advanced(byNanoseconds: turn % 4 == 3 ? 1_000_000 : 0))
        }
        dispatcher.finish()
        return dispatcher.relinquish()
    }
}
