import ALSASequencer
import BeatTime
import MIDIClock

@testable import ClockDispatch
@testable import RealTime

/// A machine with one processor for the thread and another for the timer, in virtual time.
///
/// Every call takes as long as `delay` says, so anything may happen between two calls. The queue works like the
/// kernel's: it fires every 160 us once started, and sends what is due by then. What it has taken out is in transit for
/// a while, neither removable nor heard yet.
final class SimulatedKernel {
    struct Delivery: Equatable {
        var port: UInt8
        var message: ClockMessage
        var time: Int64
        var isQueued: Bool
    }

    /// Nanoseconds of monotonic time; raw time is behind by `apart`.
    private(set) var now: Int64 = 1_000_000_000
    var apart: Int64 = 300_000_000
    /// Duration of the next call, in nanoseconds.
    var delay: () -> Int64 = { 200 }
    /// Time from the queue to the receivers, in nanoseconds.
    var flight: Int64 = 0
    /// Delay of the queue's start, in nanoseconds: another program's timer runs.
    ///
    /// Until then the queue tells a time as if it had started at once.
    var startDelay: () -> Int64 = { 0 }
    /// Another program's queue, for whose timer ours waits when it starts.
    ///
    /// - Parameter interval: how often that timer fires, in nanoseconds.
    func runAnotherQueue(interval: Int64) { startDelay = { [unowned self] in interval - now % interval } }

    func endAnotherQueue() { startDelay = { 0 } }

    /// How late the timer's last interrupt was, in nanoseconds: the queue seems to have started so much later.
    var interruptLateness: () -> Int64 = { 0 }
    /// Number of messages that the queue has room for.
    var room = Int.max
    private(set) var delivered: [Delivery] = []
    private var heard: [(at: Int64, SequencerSender.Heard)] = []
    private var pending: [(Delivery, tag: UInt8, stamp: Int64)] = []
    private var start: Int64?
    private var asked: Int64 = 0
    private var beats: Int64 = 0
    private var isFirstRemoved = true
    private var landing: Int64 = 0
    /// Number of events that the witness stores before it drops all.
    var witnessCapacity = Int.max
    private var hasOverflown = false

    /// Whether the receiver at a port refuses messages now.
    var refuses: (UInt8) -> Bool = { _ in false }
    /// How many of some bytes the line accepts now.
    var lineRoom: (LineBytes) -> Int = { _ in .max }
    private(set) var lineBytes: [UInt8] = []
    /// Whether the queue cannot be started.
    var refusesStart = false
    /// The existing output ports, one bit each, and when each was created or deleted.
    private(set) var ports: UInt64 = 0
    private(set) var portChanges: [(at: Int64, port: UInt8, exists: Bool)] = []
    /// Time to take back what is queued and to plan it anew, in nanoseconds, besides the calls.
    var planTime: Int64 = 0
    /// Time to create a port, in nanoseconds.
    var portTime: Int64 = 50_000

    func setPort(_ port: UInt8, exists: Bool) {
        portChanges.append((now, port, exists))
        spend(portTime)
        if exists { ports |= 1 << UInt64(port) } else { ports &= ~(1 << UInt64(port)) }
    }

    /// Number of the timer's interrupts for the queue.
    private(set) var interrupts = 0
    /// Nanoseconds that the thread has been awake.
    private(set) var awake: Int64 = 0

    func spend(_ time: Int64) {
        awake += time
        advance(to: now + time)
    }

    func advance(to time: Int64) {
        while let start, start + (beats + 1) * QueueGrid.period <= time {
            beats += 1
            interrupts += 1
            let (queueTime, at) = (beats * QueueGrid.period, start + beats * QueueGrid.period)
            let due = pending.filter { $0.stamp <= queueTime }.sorted { $0.stamp < $1.stamp }
            pending.removeAll { $0.stamp <= queueTime }
            for (delivery, tag, _) in due { deliver(delivery, at: at + flight, tag: tag, queueTime: queueTime) }
            if !due.isEmpty { landing = at + flight }
        }
        now = max(now, time)
    }

    /// Delivers a message; returns whether its receiver accepted it.
    @discardableResult
    private func deliver(_ delivery: Delivery, at time: Int64, tag: UInt8, queueTime: Int64) -> Bool {
        var delivery = delivery
        delivery.time = time
        let isTaken = !refuses(delivery.port)
        if isTaken { delivered.append(delivery) }
        heard.append((time, .init(port: delivery.port, tag: tag, queueTime: queueTime)))
        if !isTaken, delivery.isQueued {
            heard.append((time, .init(port: delivery.port, tag: 0, queueTime: 0, isRefusal: true)))
        }
        if heard.count > witnessCapacity {
            heard = []
            hasOverflown = true
        }
        return isTaken
    }

    /// Returns whether the receiver accepted it.
    func send(_ entry: ScheduledMessage) -> Bool {
        guard let port = entry.port else { return true }
        let delivery = Delivery(port: port, message: entry.message, time: now, isQueued: false)
        return deliver(delivery, at: now, tag: 0, queueTime: start.map { now - $0 } ?? 0)
    }

    func write(_ bytes: LineBytes) -> Int {
        let taken = min(bytes.count, lineRoom(bytes))
        for index in 0..<taken { lineBytes.append(UInt8(truncatingIfNeeded: bytes.word >> UInt64(8 * index))) }
        return taken
    }

    func startQueue() {
        pending = []
        asked = now
        start = now + startDelay()
        (beats, isFirstRemoved) = (0, false)
    }

    /// Returns whether there was room.
    func queue(_ entry: ScheduledMessage, port: UInt8, tag: UInt8) -> Bool {
        guard pending.count < room else { return false }
        let delivery = Delivery(port: port, message: entry.message, time: 0, isQueued: true)
        if let start, start <= now, entry.queueTime <= beats * QueueGrid.period {
            deliver(delivery, at: now, tag: tag, queueTime: beats * QueueGrid.period)
        } else {
            pending.append((delivery, tag, entry.queueTime))
        }
        return true
    }

    func stopQueue() { start = nil }
    func removeQueued() { (pending, isFirstRemoved) = ([], true) }
    /// What the queue holds until its first period has ended is not among what is pending.
    var isQueueEmpty: Bool { pending.isEmpty && now >= landing && (beats > 0 || isFirstRemoved) }
    var origin: Int64? { start.map { $0 > now ? asked : $0 + interruptLateness() } }

    func takeHeard() -> [SequencerSender.Heard]? {
        if hasOverflown {
            hasOverflown = false
            return nil
        }
        let taken = heard.filter { $0.at <= now }.prefix(SequencerSender.heardCapacity)
        heard.removeFirst(taken.count)
        return taken.map(\.1)
    }
}

/// The dispatcher's access to a simulated kernel.
struct SimulatedMachine: DispatchMachine {
    let kernel: SimulatedKernel
    var hasQueue = true

    private func spend() { kernel.spend(kernel.delay()) }

    func monotonicTime() -> MonotonicTime {
        spend()
        return MonotonicTime(nanoseconds: kernel.now)
    }

    func hostTime() -> HostTime {
        spend()
        return HostTime(microseconds: (kernel.now - kernel.apart) / 1000)
    }

    func reading(after earlier: ClockReading?) -> ClockReading {
        spend()
        return ClockReading(
            monotonic: MonotonicTime(nanoseconds: kernel.now), rawNanoseconds: kernel.now - kernel.apart)
    }

    mutating func send(_ messages: UnsafeMutableBufferPointer<ScheduledMessage>) {
        for index in messages.indices {
            spend()
            messages[index].wasRefused = !kernel.send(messages[index])
        }
    }

    mutating func write(_ bytes: LineBytes, to line: Int32) -> Int? {
        spend()
        return kernel.write(bytes)
    }

    mutating func startQueue() -> Bool {
        spend()
        if kernel.refusesStart { kernel.stopQueue() } else { kernel.startQueue() }
        return !kernel.refusesStart
    }

    mutating func arm(_ messages: UnsafeMutableBufferPointer<ScheduledMessage>) {
        for index in messages.indices {
            guard let port = messages[index].port else { continue }
            spend()
            messages[index].isArmed = kernel.queue(messages[index], port: port, tag: messages[index].tag)
        }
    }

    mutating func removeQueued() {
        spend()
        kernel.removeQueued()
        kernel.spend(kernel.planTime)
    }

    var isQueueEmpty: Bool {
        spend()
        return kernel.isQueueEmpty
    }

    func queueOrigin() -> ClosedRange<MonotonicTime>? {
        let before = monotonicTime()
        spend()
        let (origin, asked) = (kernel.origin, kernel.now)
        let after = monotonicTime()
        guard let origin else { return nil }
        return MonotonicTime(
            nanoseconds: origin + before.nanoseconds - asked)...MonotonicTime(
                nanoseconds: origin + after.nanoseconds - asked)
    }

    mutating func stopQueue() {
        spend()
        kernel.stopQueue()
    }

    var existingPorts: UInt64 { kernel.ports }
    var refusedPorts: UInt64 { 0 }
    mutating func setPort(_ port: UInt8, exists: Bool) { kernel.setPort(port, exists: exists) }

    mutating func takeHeard(_ heard: UnsafeMutablePointer<SequencerSender.Heard>) -> Int? {
        spend()
        guard let taken = kernel.takeHeard() else { return nil }
        for (index, event) in taken.enumerated() { heard[index] = event }
        return taken.count
    }

    func pause(nanoseconds: Int64) { kernel.advance(to: kernel.now + nanoseconds) }
    func threadTime() -> Int64 { kernel.awake }
}
