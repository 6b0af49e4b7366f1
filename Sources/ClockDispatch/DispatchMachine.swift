internal import ALSASequencer
internal import BeatTime
internal import Glibc
internal import MIDIClock
internal import RealTime
internal import TimeCode

/// What the dispatcher runs on: clocks, outputs, and the sequencer's queue.
protocol DispatchMachine: ~Copyable {
    /// Whether there is a queue. It sends a message at the end of the period in which the message's time is.
    var hasQueue: Bool { get }
    func monotonicTime() -> MonotonicTime
    func reading(after earlier: ClockReading?) -> ClockReading
    /// Sends the messages that leave from sequencer ports, in order and once each, and marks those that a receiver
    /// refused.
    mutating func send(_ messages: UnsafeMutableBufferPointer<ScheduledMessage>)
    /// Writes bytes to a line.
    ///
    /// - Returns: how many the line has taken; nil if it has failed for good.
    mutating func write(_ bytes: LineBytes, to line: Int32) -> Int?
    /// Restarts the queue's time at 0; anything waiting in it is dropped.
    ///
    /// - Returns: whether the kernel accepted it; if not, the queue stands still.
    mutating func startQueue() -> Bool
    /// Removes everything from the queue.
    mutating func removeQueued()
    /// Whether nothing waits in the queue or is just leaving it.
    var isQueueEmpty: Bool { get }
    mutating func stopQueue()
    /// When the queue's time was 0, and how many of its periods have ended since its start; nil if it is not known.
    func queueStatus() -> SequencerSender.QueueStatus?
    /// How many more messages the queue has room for.
    var room: Int { get }
    /// Puts messages that leave from sequencer ports into the queue.
    ///
    /// - Returns: how many of them, from the first on, it has taken.
    mutating func enqueue(_ messages: UnsafeMutableBufferPointer<ScheduledMessage>) -> Int
    /// The ports of which a receiver has refused what the queue sent since this was last asked, one bit each.
    mutating func takeRefusals() -> UInt64
}

/// The machine as the kernel provides it.
struct KernelMachine: DispatchMachine, ~Copyable {
    private var sender: SequencerSender?
    let hasQueue: Bool

    /// Takes over the sender; `sequencer` must outlive this value.
    init(_ sequencer: SequencerOutput?) {
        hasQueue = sequencer?.hasQueue == true
        sender = sequencer?.takeSender()
    }

    /// Locks in memory what the first outputs need.
    ///
    /// - Parameter outputs: the number of outputs.
    /// - Returns: whether the system allowed it.
    func lockMemory(outputs: Int) -> Bool {
        sender?.lockMemory(events: outputs * Dispatcher<Self>.batchPerOutput) != false
    }

    func monotonicTime() -> MonotonicTime { .now() }
    func reading(after earlier: ClockReading?) -> ClockReading { .take(after: earlier) }
    var isQueueEmpty: Bool { sender?.isQueueEmpty() != false }
    func removeQueued() { sender?.removeQueued() }
    mutating func startQueue() -> Bool { sender?.startQueue() == true }
    mutating func stopQueue() { sender?.stopQueue() }

    func queueStatus() -> SequencerSender.QueueStatus? { sender?.queueStatus() }
    var room: Int { sender?.room() ?? 0 }

    mutating func enqueue(_ messages: UnsafeMutableBufferPointer<ScheduledMessage>) -> Int {
        sender?.begin()
        for index in messages.indices {
            guard let port = messages[index].port else { continue }
            let time = messages[index].queueTime
            switch messages[index].message {
            case .clock(let message): sender?.add(message, from: port, at: time)
            case .timeCode(let message): sender?.add(message, from: port, at: time)
            }
        }
        return sender?.write(from: 0) ?? 0
    }

    func takeRefusals() -> UInt64 { sender?.takeRefusals() ?? 0 }

    mutating func send(_ messages: UnsafeMutableBufferPointer<ScheduledMessage>) {
        sender?.begin()
        for index in messages.indices {
            guard let port = messages[index].port else { continue }
            switch messages[index].message {
            case .clock(let message): sender?.add(message, from: port)
            case .timeCode(.fullFrame(let time)):
                messages[index].wasRefused = sender?.send(time, from: port) == false
            case .timeCode(let piece): sender?.add(piece, from: port)
            }
        }
        // The kernel stops at each message that a receiver refuses: continue behind it.
        guard var refused = sender?.write(from: 0) else { return }
        var position = 0
        for index in messages.indices where messages[index].port != nil && messages[index].message.fitsQueue {
            if position == refused {
                messages[index].wasRefused = true
                refused = sender?.write(from: refused + 1) ?? .max
            }
            position += 1
        }
    }

    func write(_ bytes: LineBytes, to line: Int32) -> Int? {
        var array = bytes.bytes
        let written = Glibc.write(line, &array, bytes.count)
        return written < 0 && errno != EAGAIN && errno != EINTR ? nil : max(0, written)
    }
}
