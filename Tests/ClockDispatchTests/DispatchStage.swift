import BeatTime
import MIDIClock
import RealTime
import Simulation
import Synchronization
import Testing

@testable import ClockDispatch

/// A way to send, and the interval at which another program's queue fires meanwhile, in nanoseconds.
struct DispatchCase: CustomTestStringConvertible, Sendable {
    var way: DispatchWay
    var otherQueue: Int64?

    static let direct = DispatchCase(way: DispatchWay(mode: .direct))
    static let all =
        [direct, DispatchCase(way: DispatchWay(mode: .queue, isRealTime: false))]
        + [nil, 160_000, 1_000_000].map { DispatchCase(way: DispatchWay(mode: .queue), otherQueue: $0) }

    var testDescription: String {
        way.mode.name + (way.isRealTime ? "" : " of an ordinary thread")
            + (otherQueue.map { " beside a queue of \($0) ns" } ?? "")
    }
}

/// An output thread in virtual time: a dispatcher, its kernel, and a board that may change.
final class DispatchStage {
    let kernel = SimulatedKernel()
    var board: OutputBoard
    private var dispatcher: Dispatcher<SimulatedMachine>
    private let counters: PageArray<OutputCounters>
    /// Changes of the board, with the monotonic time of publishing.
    var changes: [(at: Int64, change: (inout OutputBoard) -> Void)] = []
    /// Changes of the way, with the monotonic time of the first turn after which it is made.
    var ways: [(at: Int64, way: DispatchWay)] = []
    /// How late the thread wakes, in nanoseconds.
    var wakeUpLatency: () -> Int64 = { 4_000 }

    convenience init(mode: DispatchMode, outputs: Int = 1, microsecondsPerBeat: Int64 = 448_765) {
        self.init(way: DispatchWay(mode: mode), outputs: outputs, microsecondsPerBeat: microsecondsPerBeat)
    }

    convenience init(_ dispatchCase: DispatchCase, outputs: Int = 1) {
        self.init(way: dispatchCase.way, outputs: outputs)
        if let interval = dispatchCase.otherQueue { kernel.runAnotherQueue(interval: interval) }
    }

    init(way: DispatchWay, outputs: Int = 1, microsecondsPerBeat: Int64 = 448_765) {
        let line = TickLine(
            microsecondsPerBeat: microsecondsPerBeat,
            timeOrigin: HostTime(microseconds: (kernel.now - kernel.apart) / 1000 + 2_000), tickOrigin: 0)
        board = OutputBoard(map: TempoMap(line), transport: .stopped)
        board.count = outputs
        for slot in 0..<outputs { board.slots[slot].sink = .port(UInt8(slot)) }
        counters = PageArray(count: outputs) { _ in OutputCounters() }
        dispatcher = Dispatcher(machine: SimulatedMachine(kernel: kernel), way: way, counters: counters)
    }

    func run(milliseconds: Int64, isEnding: Bool = true) {
        let end = kernel.now + milliseconds * 1_000_000
        while kernel.now < end {
            while let next = changes.first, next.at <= kernel.now {
                next.change(&board)
                board.generation += 1
                changes.removeFirst()
            }
            dispatcher.take(board)
            let before = kernel.awake
            let turn = dispatcher.turn()
            turns += 1
            if let told = whenSettled, dispatcher.generation == board.generation, board.generation > 0 {
                told()
                whenSettled = nil
            }
            longestTurn = max(longestTurn, kernel.awake - before)
            if let next = ways.first, next.at <= kernel.now {
                dispatcher.change(to: next.way)
                ways.removeFirst()
                continue
            }
            let deadline = turn.nanoseconds
            guard kernel.now < deadline else { continue }
            let wakeUp = min(deadline, changes.first?.at ?? .max)
            kernel.advance(to: wakeUp)
            kernel.advance(to: kernel.now + wakeUpLatency())
            if wakeUp == deadline { dispatcher.wokeUp(at: turn, lateness: kernel.now - deadline) }
        }
        lost += kernel.dropped
        if isEnding { dispatcher.finish() }
    }

    /// Called once nothing planned by the first board is sent any more.
    var whenSettled: (() -> Void)?
    /// How many messages were lost in the queue before the end.
    private(set) var lost = 0
    /// How often the thread has looked for work.
    private(set) var turns = 0
    /// The longest that the thread has worked in one turn, in nanoseconds.
    private(set) var longestTurn: Int64 = 0

    /// The mode in force.
    var mode: DispatchMode { dispatcher.mode }

    /// Largest lateness of an output's ticks, in microseconds.
    func longestLateness(slot: Int) -> Int64 { counters[slot].lateness.maximum }

    /// Number of ticks that an output has counted.
    func ticksCounted(slot: Int) -> Int { counters[slot].ticks.load(ordering: .relaxed) }

    /// Number of ticks that an output has skipped.
    func ticksSkipped(slot: Int) -> Int { counters[slot].skippedTicks.load(ordering: .relaxed) }

    /// Whether an output's device is in sync with the song.
    func syncState(slot: Int) -> TickPlanner.SyncState? {
        TickPlanner.SyncState(rawValue: counters[slot].syncState.load(ordering: .relaxed))
    }

    /// Whether an output's device was started and has not accepted a Stop since.
    func mayPlay(slot: Int) -> Bool { counters[slot].mayPlay.load(ordering: .relaxed) }

    func messages(_ port: UInt8 = 0) -> [SimulatedKernel.Delivery] { kernel.delivered.filter { $0.port == port } }

    /// How many ticks an output has had to send until 10 ms ago, if it sends them so many microseconds later.
    ///
    /// Later ones may still wait in the queue.
    func ticksDue(offset: Int64 = 0) -> Int {
        let end = HostTime(microseconds: (kernel.now - kernel.apart) / 1_000 - 10_000 - offset)
        return Int(board.map.line.firstTick(atOrAfter: end))
    }

    /// The number of the session's tick with which a message left; nil if there is none.
    func tick(of sent: SimulatedKernel.Delivery?, _ port: UInt8) -> Int64? {
        sent.map { sent in
            let time = (sent.time - kernel.apart) / 1_000 - board.slots[Int(port)].settings.offset
            return board.map.line.nearestTick(to: HostTime(microseconds: time))
        }
    }

    /// Lateness of each tick of a port in microseconds, if the n-th sent tick is the n-th of the line.
    ///
    /// After a lost tick all later ones seem late, after a doubled tick early.
    func lateness(_ port: UInt8 = 0) -> [Int64] {
        let ticks = messages(port).filter { $0.message == .timingClock }
        return ticks.enumerated().map { number, tick in
            let due = board.map.time(ofTick: Int64(number)).microseconds * 1000 + kernel.apart
            return (tick.time - due) / 1000
        }
    }
}
