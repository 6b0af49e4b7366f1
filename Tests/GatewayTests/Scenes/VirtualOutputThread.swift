import ALSASequencer
import BeatTime
import MIDIClock
import Synchronization

@testable import ClockDispatch
@testable import RealTime

/// The gateway's output thread in virtual time: the real dispatcher with a simulated kernel.
final class VirtualOutputThread {
    /// The board in use.
    private(set) var board: OutputBoard
    private let kernel: VirtualKernel
    private let counters = PageArray(count: OutputBoard.capacity) { _ in OutputCounters() }
    private var dispatcher: Dispatcher<VirtualKernel.Side>

    init(_ board: OutputBoard, at now: HostTime) {
        self.board = board
        kernel = VirtualKernel(board, at: now)
        let way = DispatchWay(mode: .queue)
        dispatcher = Dispatcher(machine: VirtualKernel.Side(kernel: kernel), way: way, counters: counters)
    }

    /// Whether a receiver connected to a port accepts no messages.
    var refuses: (UInt8) -> Bool {
        get { kernel.refuses }
        set { kernel.refuses = newValue }
    }

    /// How many bytes a line accepts at once, given its descriptor.
    var room: (Int32) -> Int {
        get { kernel.room }
        set { kernel.room = newValue }
    }

    /// Sends what is due.
    ///
    /// - Parameters:
    ///   - newest: the newest board.
    ///   - now: the current time.
    /// - Returns: what was sent, in order, and when to wake next.
    func turn(_ newest: OutputBoard, at now: HostTime) -> (sent: [VirtualKernel.Sent], wakeAt: HostTime) {
        kernel.reach(now)
        (board, kernel.board) = (newest, newest)
        dispatcher.take(board)
        let deadline = dispatcher.turn()
        defer { kernel.sent = [] }
        let wakeAt = HostTime(microseconds: deadline.nanoseconds / 1_000)
        return (kernel.sent, min(wakeAt, kernel.nextLeaves ?? wakeAt))
    }

    /// Lets the queue send what is due, without the thread.
    ///
    /// - Returns: what was sent, in order.
    func runQueue(at now: HostTime) -> [VirtualKernel.Sent] {
        kernel.reach(now)
        defer { kernel.sent = [] }
        return kernel.sent
    }

    /// Sends the last Stops.
    ///
    /// - Returns: what was sent, in order.
    func finish(at now: HostTime) -> [VirtualKernel.Sent] {
        kernel.reach(now)
        dispatcher.finish()
        defer { kernel.sent = [] }
        return kernel.sent
    }

    /// Whether something from a port is in the queue.
    func isQueued(from port: Int) -> Bool { kernel.isQueued(from: port) }

    /// The thread's state and counters, as the gateway thread reads them.
    func report() -> OutputReport {
        var report = OutputReport(generationInUse: dispatcher.generation ?? 0, horizon: dispatcher.horizon)
        report.add(counters, slots: board.count)
        return report
    }

    /// Makes the line of a slot fail.
    func breakLine(_ slot: Int) { counters[slot].isLineBroken.store(true, ordering: .relaxed) }
}

/// A simulated kernel for the output thread.
///
/// Each call takes 5 us. Its queue starts at once, and sends at the end of each period of 160 us.
final class VirtualKernel {
    /// Something that was sent, and when.
    enum Sent {
        /// A message sent from a port, planned by a board; a receiver may have refused it.
        case message(ScheduledMessage, OutputBoard, HostTime)
        /// The bytes that a line accepted, and how many it was offered.
        case bytes([UInt8], of: Int, line: Int32, HostTime)
    }

    private(set) var now: HostTime
    /// The newest board.
    var board: OutputBoard
    var sent: [Sent] = []
    var refuses: (UInt8) -> Bool = { _ in false }
    var room: (Int32) -> Int = { _ in .max }
    /// When the queue was started; nil if it does not run.
    private var start: HostTime?
    /// What is in the queue, in order of time.
    private var queued: [(message: ScheduledMessage, board: OutputBoard, leaves: HostTime)] = []
    private var refusals: UInt64 = 0

    init(_ board: OutputBoard, at now: HostTime) { (self.board, self.now) = (board, now) }

    /// When the next message leaves the queue.
    var nextLeaves: HostTime? { queued.first?.leaves }

    func isQueued(from port: Int) -> Bool { queued.contains { $0.message.port.map(Int.init) == port } }

    /// Lets time pass, in which the queue sends what is due.
    func reach(_ time: HostTime) {
        now = max(now, time)
        while let next = queued.first, next.leaves <= now {
            queued.removeFirst()
            if let port = next.message.port, refuses(port) { refusals |= 1 << UInt64(port) }
            sent.append(.message(next.message, next.board, next.leaves))
        }
    }

    private func pass() { reach(now.advanced(byMicroseconds: 5)) }

    private func enqueue(_ message: ScheduledMessage, startedAt start: HostTime) {
        let periods = (message.queueTime + QueueRun.period - 1) / QueueRun.period
        let leaves = max(now, start.advanced(byMicroseconds: periods * QueueRun.period / 1_000))
        let place = queued.firstIndex { $0.leaves > leaves } ?? queued.count
        queued.insert((message, board, leaves), at: place)
    }

    /// The kernel's interface to the dispatcher.
    struct Side: DispatchMachine {
        let kernel: VirtualKernel
        let hasQueue = true

        func hostTime() -> HostTime {
            kernel.pass()
            return kernel.now
        }

        func monotonicTime() -> MonotonicTime { MonotonicTime(nanoseconds: hostTime().microseconds * 1_000) }

        func reading(after earlier: ClockReading?) -> ClockReading {
            let now = monotonicTime()
            return ClockReading(monotonic: now, rawNanoseconds: now.nanoseconds)
        }

        mutating func send(_ messages: UnsafeMutableBufferPointer<ScheduledMessage>) {
            for index in messages.indices {
                guard let port = messages[index].port else { continue }
                messages[index].wasRefused = kernel.refuses(port)
                kernel.sent.append(.message(messages[index], kernel.board, kernel.now))
            }
        }

        mutating func write(_ bytes: LineBytes, to line: Int32) -> Int? {
            let taken = min(bytes.count, kernel.room(line))
            let all = (0..<bytes.count).map { bytes.bytes[$0] }
            kernel.sent.append(.bytes(Array(all.prefix(taken)), of: all.count, line: line, kernel.now))
            return taken
        }

        mutating func startQueue() -> Bool {
            removeQueued()
            kernel.start = kernel.now
            return true
        }

        mutating func enqueue(_ messages: UnsafeMutableBufferPointer<ScheduledMessage>) -> Int {
            kernel.pass()
            guard let start = kernel.start else { return 0 }
            for message in messages { kernel.enqueue(message, startedAt: start) }
            return messages.count
        }

        mutating func removeQueued() { kernel.queued = [] }
        var isQueueEmpty: Bool { kernel.queued.isEmpty }
        mutating func stopQueue() { kernel.start = nil }
        var room: Int { 600 - kernel.queued.count }

        func queueStatus() -> SequencerSender.QueueStatus? {
            let now = monotonicTime()
            return kernel.start.map { start in
                let origin = MonotonicTime(nanoseconds: start.microseconds * 1_000)
                let ticks = (now.nanoseconds - origin.nanoseconds) / QueueRun.period
                return SequencerSender.QueueStatus(origin: origin...origin, ticks: UInt32(ticks))
            }
        }

        mutating func takeRefusals() -> UInt64 {
            defer { kernel.refusals = 0 }
            return kernel.refusals
        }
    }
}
