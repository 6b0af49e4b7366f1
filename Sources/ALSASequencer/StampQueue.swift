internal import BeatTime
internal import CALSA
internal import RealTime

/// A sequencer queue that sends nothing: the kernel uses its time to stamp what arrives at a port.
///
/// It runs on the system timer. On the high-resolution timer, which all programs' queues share, it would impose its
/// period on the outputs' queue. The kernel interpolates stamps to nanoseconds, so the period does not matter, but they
/// are off by the lateness of the timer's last interrupt. The queue's time is therefore read again after each batch of
/// events: that reading has the same error, and the two cancel.
struct StampQueue: ~Copyable {
    let number: Int32
    private let status: ALSAStructure
    private var reading: Reading?

    /// The queue's time and both clocks, read at one moment.
    private struct Reading {
        /// Nanoseconds by which monotonic time is ahead of the queue's.
        var offset: Int64
        var clocks: ClockReading
    }

    /// Oldest possible stamp, and how far one may be in the future, in nanoseconds; others are not the kernel's.
    private static let longestWait: Int64 = 60_000_000_000
    private static let largestLead: Int64 = 1_000_000

    private init(number: Int32, status: consuming ALSAStructure) {
        self.number = number
        self.status = status
    }

    /// Creates the queue and starts it; the kernel frees it with the client.
    ///
    /// - Parameter handle: a client that may also send, which starting a queue requires.
    /// - Returns: the queue.
    /// - Throws: when other programs hold all queues or timers.
    static func start(_ handle: OpaquePointer) throws(ALSAError) -> StampQueue {
        let status = try ALSAStructure(snd_seq_queue_status_malloc, snd_seq_queue_status_free)
        let queue = StampQueue(number: snd_seq_alloc_queue(handle), status: status)
        try check("snd_seq_alloc_queue", queue.number)
        try SequencerTimer.system.drive(queue.number, of: handle, frequency: 0)
        var event = snd_seq_event_t()
        calsa_control_queue(&event, queue.number, UInt8(SND_SEQ_EVENT_START.rawValue))
        try check("snd_seq_event_output_direct", snd_seq_event_output_direct(handle, &event))
        return queue
    }

    /// Reads the queue's time and both clocks.
    mutating func read(_ handle: OpaquePointer) {
        var narrowest = Int64.max
        var offset: Int64 = 0
        for _ in 0..<3 {
            let before = MonotonicTime.now().nanoseconds
            guard snd_seq_get_queue_status(handle, number, status.pointer) >= 0 else { return reading = nil }
            let width = MonotonicTime.now().nanoseconds - before
            guard width < narrowest else { continue }
            narrowest = width
            let time = snd_seq_queue_status_get_real_time(status.pointer).pointee
            offset = before + width / 2 - Self.nanoseconds(time)
        }
        reading = Reading(offset: offset, clocks: ClockReading.take(after: reading?.clocks))
    }

    /// The host time at which an event arrived.
    ///
    /// - Parameter event: from about the time of the last reading.
    /// - Returns: that time; nil if the kernel has not stamped the event with this queue's time.
    func hostTime(of event: snd_seq_event_t) -> HostTime? {
        guard let reading, Int32(event.queue) == number, event.flags & Self.realStamp != 0 else { return nil }
        let time = MonotonicTime(nanoseconds: Self.nanoseconds(event.time.time) + reading.offset)
        let age = reading.clocks.monotonic.nanoseconds - time.nanoseconds
        guard age < Self.longestWait, age > -Self.largestLead else { return nil }
        return reading.clocks.hostTime(of: time)
    }

    private static let realStamp = UInt8(SND_SEQ_TIME_STAMP_REAL)

    private static func nanoseconds(_ time: snd_seq_real_time_t) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
