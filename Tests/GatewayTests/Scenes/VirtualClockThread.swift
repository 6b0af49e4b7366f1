import ALSASequencer
import BeatTime
import MIDIClock
import Synchronization

@testable import ClockDispatch
@testable import RealTime

/// The gateway's clock thread in virtual time: the real dispatcher, which sends to machines that are values.
final class VirtualClockThread {
    /// The board in use.
    private(set) var board: OutputBoard
    private let kernel = VirtualKernel()
    private let counters = PageArray(count: OutputBoard.capacity) { _ in OutputCounters() }
    private var dispatcher: Dispatcher<VirtualKernel.Side>

    init(_ board: OutputBoard, at now: HostTime) {
        self.board = board
        kernel.now = now
        dispatcher = Dispatcher(machine: VirtualKernel.Side(kernel: kernel), mode: .direct, counters: counters)
    }

    /// Whether somebody who hears a port takes nothing.
    var refuses: (UInt8) -> Bool {
        get { kernel.refuses }
        set { kernel.refuses = newValue }
    }

    /// How many bytes a line takes at once, by its descriptor.
    var room: (Int32) -> Int {
        get { kernel.room }
        set { kernel.room = newValue }
    }

    /// Does what is due.
    ///
    /// - Parameters:
    ///   - newest: the newest board.
    ///   - now: the present time.
    /// - Returns: what has left and when, in its order, and when to be woken again.
    func turn(_ newest: OutputBoard, at now: HostTime) -> (sent: [VirtualKernel.Sent], wakeAt: HostTime) {
        board = newest
        kernel.now = max(kernel.now, now)
        var deadline = dispatcher.turn(board)
        while dispatcher.changePort(before: deadline) { deadline = dispatcher.turn(board) }
        defer { kernel.sent = [] }
        return (kernel.sent, HostTime(microseconds: deadline.nanoseconds / 1_000))
    }

    /// What the thread has come to, as the gateway thread reads it.
    func account() -> ClockAccount {
        var account = ClockAccount(generationInUse: board.generation, existingPorts: kernel.ports)
        account.add(counters, slots: board.count)
        return account
    }

    /// A line that is open takes no more.
    func breakLine(_ slot: Int) { counters[slot].isLineBroken.store(true, ordering: .relaxed) }

    /// Makes the ports that there are from the start.
    func makePort(_ port: Int) { kernel.ports |= 1 << UInt64(port) }

    /// The ports there are, one bit each.
    var ports: UInt64 { kernel.ports }
}

/// The kernel as the clock thread sees it: time passes by a few microseconds with each call, and nothing is queued.
final class VirtualKernel {
    /// What has left, and when.
    enum Sent {
        /// A message by a port; a receiver may have refused it.
        case message(ScheduledMessage, HostTime)
        /// The bytes that a line has taken, of that many.
        case bytes([UInt8], of: Int, line: Int32, HostTime)
    }

    var now = HostTime(microseconds: 0)
    var sent: [Sent] = []
    var ports: UInt64 = 0
    var refuses: (UInt8) -> Bool = { _ in false }
    var room: (Int32) -> Int = { _ in .max }

    private func pass() { now = now.advanced(byMicroseconds: 5) }

    /// The dispatcher's side.
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

        mutating func send(_ messages: UnsafeMutableBufferPointer<ScheduledMessage>, stoppingQueue: Bool) {
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
        mutating func arm(_ messages: UnsafeMutableBufferPointer<ScheduledMessage>) {}
        mutating func removeQueued() {}
        mutating func removeQueued(tag: UInt8) {}
        var isQueueEmpty: Bool { true }
        func queueOrigin() -> MonotonicTime? { nil }
        mutating func stopQueue() {}
        mutating func setPacemaker(_ isRunning: Bool) {}
        mutating func takeHeard(_ heard: UnsafeMutablePointer<SequencerSender.Heard>) -> Int? { 0 }
        var existingPorts: UInt64 { kernel.ports }
        var refusedPorts: UInt64 { 0 }

        mutating func setPort(_ port: UInt8, exists: Bool) {
            if exists { kernel.ports |= 1 << UInt64(port) } else { kernel.ports &= ~(1 << UInt64(port)) }
        }

        func pause(nanoseconds: Int64) { kernel.pass() }
        func countOtherThreads() -> Int { 0 }
    }
}
