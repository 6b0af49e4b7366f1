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
    private let kernel = VirtualKernel()
    private let counters = PageArray(count: OutputBoard.capacity) { _ in OutputCounters() }
    private var dispatcher: Dispatcher<VirtualKernel.Side>

    init(_ board: OutputBoard, at now: HostTime) {
        self.board = board
        kernel.now = now
        let way = DispatchWay(mode: .direct)
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
        board = newest
        kernel.now = max(kernel.now, now)
        dispatcher.take(board)
        var deadline = dispatcher.turn()
        while dispatcher.changePort(before: deadline) { deadline = dispatcher.turn() }
        defer { kernel.sent = [] }
        return (kernel.sent, HostTime(microseconds: deadline.nanoseconds / 1_000))
    }

    /// Sends the last Stops.
    ///
    /// - Returns: what was sent, in order.
    func finish(at now: HostTime) -> [VirtualKernel.Sent] {
        kernel.now = max(kernel.now, now)
        dispatcher.finish()
        defer { kernel.sent = [] }
        return kernel.sent
    }

    /// The thread's state and counters, as the gateway thread reads them.
    func account() -> ClockAccount {
        var account = ClockAccount(generationInUse: board.generation, existingPorts: kernel.ports)
        account.add(counters, slots: board.count)
        return account
    }

    /// Makes the line of a slot fail.
    func breakLine(_ slot: Int) { counters[slot].isLineBroken.store(true, ordering: .relaxed) }

    /// Adds a port that exists from the start.
    func makePort(_ port: Int) { kernel.ports |= 1 << UInt64(port) }

    /// The existing ports, one bit each.
    var ports: UInt64 { kernel.ports }
}

/// A simulated kernel for the output thread.
///
/// Each call takes 5 us, and there is no queue.
final class VirtualKernel {
    /// Something that was sent, and when.
    enum Sent {
        /// A message sent from a port; a receiver may have refused it.
        case message(ScheduledMessage, HostTime)
        /// The bytes that a line accepted, and how many it was offered.
        case bytes([UInt8], of: Int, line: Int32, HostTime)
    }

    var now = HostTime(microseconds: 0)
    var sent: [Sent] = []
    var ports: UInt64 = 0
    var refuses: (UInt8) -> Bool = { _ in false }
    var room: (Int32) -> Int = { _ in .max }

    private func pass() { now = now.advanced(byMicroseconds: 5) }

    /// The kernel's interface to the dispatcher.
    struct Side: DispatchMachine {
        let kernel: VirtualKernel
        let hasQueue = false

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
                kernel.sent.append(.message(messages[index], kernel.now))
            }
        }

        mutating func write(_ bytes: LineBytes, to line: Int32) -> Int? {
            let taken = min(bytes.count, kernel.room(line))
            let all = (0..<bytes.count).map { UInt8(truncatingIfNeeded: bytes.word >> UInt64(8 * $0)) }
            kernel.sent.append(.bytes(Array(all.prefix(taken)), of: all.count, line: line, kernel.now))
            return taken
        }

        mutating func startQueue() -> Bool { false }
        mutating func removeQueued() {}
        var isQueueEmpty: Bool { true }
        mutating func stopQueue() {}
        func queueStatus() -> SequencerSender.QueueStatus? { nil }
        var room: Int { 0 }
        mutating func enqueue(_ messages: UnsafeMutableBufferPointer<ScheduledMessage>) -> Int { 0 }
        mutating func takeRefusals() -> UInt64 { 0 }
        var existingPorts: UInt64 { kernel.ports }
        var refusedPorts: UInt64 { 0 }

        mutating func setPort(_ port: UInt8, exists: Bool) {
            if exists { kernel.ports |= 1 << UInt64(port) } else { kernel.ports &= ~(1 << UInt64(port)) }
        }
    }
}
