internal import CALSA
internal import Glibc
package import MIDIClock
package import RealTime
package import TimeCode

/// The output thread's access to its client: sends messages directly, or by the queue.
///
/// It owns its buffers but not the client, so that using it changes no reference counts. Nothing here allocates, locks or
/// waits. For one thread: each ``SequencerOutput`` has one sender and must outlive it.
package struct SequencerSender: ~Copyable {
    private let handle: OpaquePointer
    private let descriptor: Int32
    private let outgoing: PageArray<snd_seq_event_t>
    private let incoming: PageArray<snd_seq_event_t>
    private let removal: ALSAStructure
    private let pool: ALSAStructure
    private let status: ALSAStructure
    private var count = 0
    /// The queue that sends; nil if none is precise enough.
    var queue: Int32?

    /// Most events in one batch.
    package static let capacity = 520
    /// Nanoseconds between moments at which the queue can send: the shortest period that the kernel allows.
    package static let queuePeriod: Int64 = 160_000
    /// Most events that are read at once.
    private static let readCapacity = 64

    init(_ handle: OpaquePointer) throws(ALSAError) {
        var poller = pollfd()
        snd_seq_poll_descriptors(handle, &poller, 1, Int16(POLLIN))
        let removal = try ALSAStructure(snd_seq_remove_events_malloc, snd_seq_remove_events_free)
        let pool = try ALSAStructure(snd_seq_client_pool_malloc, snd_seq_client_pool_free)
        let status = try ALSAStructure(snd_seq_queue_status_malloc, snd_seq_queue_status_free)
        self.handle = handle
        descriptor = poller.fd
        self.removal = removal
        self.pool = pool
        self.status = status
        outgoing = PageArray(count: Self.capacity) { _ in snd_seq_event_t() }
        incoming = PageArray(count: Self.readCapacity) { _ in snd_seq_event_t() }
    }

    /// Locks in memory what is used here.
    ///
    /// - Parameter events: the most in a batch.
    /// - Returns: whether the system allowed it.
    package func lockMemory(events: Int) -> Bool {
        outgoing.lock(first: min(max(1, events), Self.capacity)) && incoming.lock(first: Self.readCapacity)
    }

    // One batch

    /// Begins a batch.
    package mutating func begin() { count = 0 }

    /// Adds a message for all subscribers of a port, sent as soon as the batch is written.
    package mutating func add(_ message: ClockMessage, from port: UInt8) {
        calsa_set_direct(fill(message, from: port))
    }

    /// Adds a message for all subscribers of a port, sent by the queue.
    ///
    /// - Parameters:
    ///   - message: what to send.
    ///   - port: one of the client's outputs.
    ///   - queueTime: the queue sends the message at its first period that ends then or later.
    package mutating func add(_ message: ClockMessage, from port: UInt8, at queueTime: Int64) {
        guard let queue else { return }
        calsa_schedule(fill(message, from: port), queue, queueTime)
    }

    /// Adds a quarter frame for all subscribers of a port; nothing else of time code is an event of fixed size.
    package mutating func add(_ message: TimeCodeMessage, from port: UInt8) {
        guard case .quarterFrame(let piece, let time) = message else { return }
        calsa_set_direct(fill(piece, of: time, from: port))
    }

    /// Adds a quarter frame for all subscribers of a port, sent by the queue.
    package mutating func add(_ message: TimeCodeMessage, from port: UInt8, at queueTime: Int64) {
        guard let queue, case .quarterFrame(let piece, let time) = message else { return }
        calsa_schedule(fill(piece, of: time, from: port), queue, queueTime)
    }

    private mutating func fill(
        _ piece: UInt8, of time: TimeCode, from port: UInt8
    ) -> UnsafeMutablePointer<snd_seq_event_t> {
        let event = nextEvent(from: port)
        event.pointee.type = UInt8(SND_SEQ_EVENT_QFRAME.rawValue)
        event.pointee.data.control.value = Int32(TimeCodeMessage.data(ofPiece: piece, of: time))
        return event
    }

    /// Sends a full frame to all subscribers of a port at once.
    ///
    /// - Returns: whether all of them have taken it.
    package func send(_ time: TimeCode, from port: UInt8) -> Bool {
        let (word, count) = TimeCodeMessage.fullFrame(time).wire
        return withUnsafeBytes(of: word.littleEndian) { calsa_write_bytes(descriptor, port, $0.baseAddress, count) > 0 }
    }

    private mutating func fill(_ message: ClockMessage, from port: UInt8) -> UnsafeMutablePointer<snd_seq_event_t> {
        let event = nextEvent(from: port)
        switch message {
        case .timingClock: event.pointee.type = UInt8(SND_SEQ_EVENT_CLOCK.rawValue)
        case .start: event.pointee.type = UInt8(SND_SEQ_EVENT_START.rawValue)
        case .continue: event.pointee.type = UInt8(SND_SEQ_EVENT_CONTINUE.rawValue)
        case .stop: event.pointee.type = UInt8(SND_SEQ_EVENT_STOP.rawValue)
        case .songPosition(let beats):
            event.pointee.type = UInt8(SND_SEQ_EVENT_SONGPOS.rawValue)
            event.pointee.data.control.value = Int32(beats)
        }
        return event
    }

    private mutating func nextEvent(from port: UInt8) -> UnsafeMutablePointer<snd_seq_event_t> {
        // Beyond the capacity, which callers know, the last event is overwritten rather than other memory.
        let event = outgoing.start + min(count, Self.capacity - 1)
        count = min(count + 1, Self.capacity)
        calsa_clear(event)
        calsa_set_source(event, port)
        calsa_set_subscribers(event)
        return event
    }

    /// Passes the batch to the kernel in one call.
    ///
    /// - Parameter first: the first event not passed yet.
    /// - Returns: the index of the first event that was not fully accepted, because a subscriber refused it or there
    ///   was no room; the number of events if all went well. A refused direct message has reached the port's other
    ///   subscribers, so it must not be written again.
    package func write(from first: Int) -> Int {
        guard first < count else { return count }
        let size = MemoryLayout<snd_seq_event_t>.stride
        let written = Glibc.write(descriptor, outgoing.start + first, (count - first) * size)
        return first + max(0, written) / size
    }

    // The queue.

    /// Restarts the queue's time at 0; anything waiting in it is dropped.
    ///
    /// - Returns: whether the kernel accepted it; if not, the queue stands still.
    package mutating func startQueue() -> Bool {
        guard let queue else { return false }
        control(queue, SND_SEQ_EVENT_START)
        return write(from: 0) == count
    }

    package mutating func stopQueue() {
        guard let queue else { return }
        control(queue, SND_SEQ_EVENT_STOP)
        _ = write(from: 0)
    }

    /// Begins a batch with a start or stop of the queue.
    private mutating func control(_ queue: Int32, _ type: snd_seq_event_type) {
        calsa_control_queue(outgoing.start, queue, UInt8(type.rawValue))
        count = 1
    }

    /// Takes back everything in the queue, except what is being sent right now.
    package func removeQueued() { remove(SND_SEQ_REMOVE_OUTPUT) }

    private func remove(_ events: Int32) {
        snd_seq_remove_events_set_condition(removal.pointer, UInt32(events))
        snd_seq_remove_events(handle, removal.pointer)
    }

    /// Whether nothing is in the queue or being sent from it right now.
    package func isQueueEmpty() -> Bool {
        guard snd_seq_get_client_pool(handle, pool.pointer) >= 0 else { return true }
        return snd_seq_client_pool_get_output_free(pool.pointer) >= snd_seq_client_pool_get_output_pool(pool.pointer)
    }

    /// How many more events the queue has room for.
    package func room() -> Int {
        guard snd_seq_get_client_pool(handle, pool.pointer) >= 0 else { return 0 }
        return snd_seq_client_pool_get_output_free(pool.pointer)
    }

    /// What the kernel tells of the running queue.
    package struct QueueStatus: Hashable, Sendable {
        /// Limits of the monotonic time at which the queue's time was 0.
        package let origin: ClosedRange<MonotonicTime>
        /// How many of its periods have ended; 0 until it has surely started.
        package let ticks: UInt32

        package init(origin: ClosedRange<MonotonicTime>, ticks: UInt32) {
            self.origin = origin
            self.ticks = ticks
        }
    }

    /// What the kernel tells of the queue since its last start; nil if it does not know the queue.
    package func queueStatus() -> QueueStatus? {
        guard let queue else { return nil }
        let before = MonotonicTime.now()
        guard snd_seq_get_queue_status(handle, queue, status.pointer) >= 0 else { return nil }
        let after = MonotonicTime.now()
        let time = snd_seq_queue_status_get_real_time(status.pointer).pointee
        let elapsed = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        return QueueStatus(
            origin: before.advanced(byNanoseconds: -elapsed)...after.advanced(byNanoseconds: -elapsed),
            ticks: snd_seq_queue_status_get_tick_time(status.pointer))
    }

    /// The ports of which a receiver has refused what the queue sent since this was last called, one bit each.
    ///
    /// What the kernel had to drop, because too much of it was not read, is not among them.
    package func takeRefusals() -> UInt64 {
        let size = MemoryLayout<snd_seq_event_t>.stride
        let nothing = UInt8(SND_SEQ_EVENT_NONE.rawValue)
        var ports: UInt64 = 0
        // Not for ever, if another program should send faster than this reads.
        for _ in 0..<64 {
            incoming[0].type = nothing
            let result = read(descriptor, incoming.start, Self.readCapacity * size)
            if result > 0 {
                ports |= Refusals.ports(in: UnsafeBufferPointer(start: incoming.start, count: result / size))
            } else if result < 0, errno == ENOSPC {
                continue
            } else {
                // An event from another program was too long to read, and would block everything behind it.
                if result < 0, incoming[0].type != nothing { remove(SND_SEQ_REMOVE_INPUT) }
                break
            }
        }
        return ports
    }
}
