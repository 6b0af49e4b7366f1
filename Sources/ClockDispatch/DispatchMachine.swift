internal import ALSASequencer
internal import BeatTime
internal import Glibc
internal import MIDIClock
internal import RealTime

/// What the dispatcher runs on: clocks, outputs, the sequencer's queue, and the witness of what was sent.
protocol DispatchMachine: ~Copyable {
    /// Whether there is a queue; it never sends before the end of the period that a stamp is in.
    var hasQueue: Bool { get }
    func hostTime() -> HostTime
    func monotonicTime() -> MonotonicTime
    func reading(after earlier: ClockReading?) -> ClockReading
    /// Sends the messages that leave from sequencer ports, in order and once each, and marks those that a receiver
    /// refused.
    mutating func send(_ messages: UnsafeMutableBufferPointer<ScheduledMessage>)
    /// Writes bytes to a line.
    ///
    /// - Returns: how many the line has taken; nil if it has failed for good.
    mutating func write(_ bytes: LineBytes, to line: Int32) -> Int?
    /// Restarts the queue's time at 0; anything waiting in it is dropped. It is not empty before its first period has
    /// ended.
    ///
    /// - Returns: whether the kernel accepted it; if not, the queue stands still.
    mutating func startQueue() -> Bool
    /// Puts the messages that leave from sequencer ports into the queue, and marks them armed.
    mutating func arm(_ messages: UnsafeMutableBufferPointer<ScheduledMessage>)
    /// Removes everything from the queue.
    mutating func removeQueued()
    /// Whether nothing waits in the queue or is just leaving it.
    var isQueueEmpty: Bool { get }
    /// Limits of the moment at which the queue's time was 0; nil if it is not known.
    func queueOrigin() -> ClosedRange<MonotonicTime>?
    mutating func stopQueue()
    /// Reads what the witness has heard; 0 at the end, nil if some was lost.
    mutating func takeHeard(_ heard: UnsafeMutablePointer<SequencerSender.Heard>) -> Int?
    /// The existing output ports, one bit each.
    var existingPorts: UInt64 { get }
    /// The ports that the kernel refused to create, one bit each, until they are deleted.
    var refusedPorts: UInt64 { get }
    /// Creates or deletes an output port.
    mutating func setPort(_ port: UInt8, exists: Bool)
    func pause(nanoseconds: Int64)
    /// Processor time that the calling thread has used so far, in nanoseconds.
    func threadTime() -> Int64
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
        sender?.lockMemory(events: outputs * Agenda.capacityPerOutput) != false
    }

    func hostTime() -> HostTime { .now() }
    func monotonicTime() -> MonotonicTime { .now() }
    func reading(after earlier: ClockReading?) -> ClockReading { .take(after: earlier) }
    func pause(nanoseconds: Int64) { MonotonicTime.sleep(until: .now().advanced(byNanoseconds: nanoseconds)) }
    func threadTime() -> Int64 { ThreadTime.now() }
    var existingPorts: UInt64 { sender?.existingPorts() ?? 0 }
    var refusedPorts: UInt64 { sender?.refusedPorts() ?? 0 }
    mutating func setPort(_ port: UInt8, exists: Bool) { sender?.setPort(port, exists: exists) }
    var isQueueEmpty: Bool { sender?.isQueueEmpty() != false }
    func queueOrigin() -> ClosedRange<MonotonicTime>? { sender?.queueOrigin() }
    func removeQueued() { sender?.removeQueued() }
    mutating func startQueue() -> Bool { sender?.startQueue() == true }
    mutating func stopQueue() { sender?.stopQueue() }

    func takeHeard(_ heard: UnsafeMutablePointer<SequencerSender.Heard>) -> Int? { sender?.takeHeard(heard) }

    mutating func arm(_ messages: UnsafeMutableBufferPointer<ScheduledMessage>) {
        sender?.begin()
        for index in messages.indices {
            guard let port = messages[index].port else { continue }
            sender?.add(
                messages[index].message, from: port, tag: messages[index].tag, at: messages[index].queueTime)
        }
        // Messages for which there was no room keep their state: the thread sends them.
        guard var accepted = sender?.write(from: 0) else { return }
        for index in messages.indices where messages[index].port != nil {
            messages[index].isArmed = accepted > 0
            accepted -= 1
        }
    }

    mutating func send(_ messages: UnsafeMutableBufferPointer<ScheduledMessage>) {
        sender?.begin()
        for index in messages.indices {
            if let port = messages[index].port { sender?.add(messages[index].message, from: port) }
        }
        // The kernel stops at each message that a receiver refuses: continue behind it.
        guard var refused = sender?.write(from: 0) else { return }
        var position = 0
        for index in messages.indices where messages[index].port != nil {
            if position == refused {
                messages[index].wasRefused = true
                refused = sender?.write(from: refused + 1) ?? .max
            }
            position += 1
        }
    }

    func write(_ bytes: LineBytes, to line: Int32) -> Int? {
        var word = bytes.word.littleEndian
        let written = Glibc.write(line, &word, bytes.count)
        return written < 0 && errno != EAGAIN && errno != EINTR ? nil : max(0, written)
    }
}
