import ALSASequencer
import BeatTime
import MIDIClock

@testable import ClockDispatch
@testable import RealTime

/// A machine with one processor for the thread and another for the timer, in virtual time.
///
/// Every call takes as long as `delay` says, so anything may happen between two calls. The queue works like the
/// kernel's: it fires every 160 us once started, and sends what is due by then.
final class SimulatedKernel {
    struct Delivery: Equatable {
        var port: UInt8
        var event: StreamMessage
        var time: Int64
        var isQueued: Bool

        /// The message of a clock; nil of another stream.
        var message: ClockMessage? { if case .clock(let message) = event { message } else { nil } }
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
    private var refusals: [(at: Int64, port: UInt8)] = []
    private var pending: [(Delivery, stamp: Int64)] = []
    /// How many messages were lost because the queue was started anew, or stopped.
    private(set) var dropped = 0
    private var start: Int64?
    private var asked: Int64 = 0
    private var beats: Int64 = 0
    private var landing: Int64 = 0
    /// Whether the receiver at a port refuses messages now.
    var refuses: (UInt8) -> Bool = { _ in false }
    /// How many of some bytes the line accepts now.
    var lineRoom: (LineBytes) -> Int = { _ in .max }
    private(set) var lineBytes: [UInt8] = []
    /// Whether the queue cannot be started.
    var refusesStart = false
    /// Number of the timer's interrupts for the queue.
    private(set) var interrupts = 0
    /// Nanoseconds that the thread has been awake.
    private(set) var awake: Int64 = 0

    func spend(_ time: Int64) {
        awake += time
        advance(to: now + time)
    }

    func advance(to time: Int64) {
        while let start, start + (beats + 1) * QueueRun.period <= time {
            beats += 1
            interrupts += 1
            let (queueTime, at) = (beats * QueueRun.period, start + beats * QueueRun.period)
            let due = pending.filter { $0.stamp <= queueTime }.sorted { $0.stamp < $1.stamp }
            pending.removeAll { $0.stamp <= queueTime }
            for (delivery, _) in due { deliver(delivery, at: at + flight) }
            if !due.isEmpty { landing = at + flight }
        }
        now = max(now, time)
    }

    /// Delivers a message; returns whether its receiver accepted it.
    @discardableResult
    private func deliver(_ delivery: Delivery, at time: Int64) -> Bool {
        var delivery = delivery
        delivery.time = time
        let isTaken = !refuses(delivery.port)
        if isTaken {
            delivered.append(delivery)
        } else if delivery.isQueued {
            refusals.append((time, delivery.port))
        }
        return isTaken
    }

    /// Returns whether the receiver accepted it.
    func send(_ entry: ScheduledMessage) -> Bool {
        guard let port = entry.port else { return true }
        let delivery = Delivery(port: port, event: entry.message, time: now, isQueued: false)
        return deliver(delivery, at: now)
    }

    func write(_ bytes: LineBytes) -> Int {
        let taken = min(bytes.count, lineRoom(bytes))
        for index in 0..<taken { lineBytes.append(bytes.bytes[index]) }
        return taken
    }

    func startQueue() {
        removeQueued()
        asked = now
        start = now + startDelay()
        beats = 0
    }

    /// Returns whether there was room.
    func queue(_ entry: ScheduledMessage, port: UInt8) -> Bool {
        guard pending.count < room else { return false }
        let delivery = Delivery(port: port, event: entry.message, time: 0, isQueued: true)
        if let start, start <= now, entry.queueTime <= beats * QueueRun.period {
            deliver(delivery, at: now)
        } else {
            pending.append((delivery, entry.queueTime))
        }
        return true
    }

    func stopQueue() { start = nil }
    func removeQueued() {
        dropped += pending.count
        pending = []
    }
    var isQueueEmpty: Bool { pending.isEmpty && now >= landing }
    /// Number of periods that have ended since the start.
    var ticks: UInt32 { UInt32(beats) }
    var roomLeft: Int { room - pending.count }
    var origin: Int64? { start.map { $0 > now ? asked : $0 + interruptLateness() } }

    /// The ports that have refused something since this was last asked, one bit each.
    func takeRefusals() -> UInt64 {
        let ports = refusals.filter { $0.at <= now }.reduce(UInt64(0)) { $0 | 1 << UInt64($1.port) }
        refusals.removeAll { $0.at <= now }
        return ports
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

    mutating func removeQueued() {
        spend()
        kernel.removeQueued()
    }

    var isQueueEmpty: Bool {
        spend()
        return kernel.isQueueEmpty
    }

    func queueStatus() -> SequencerSender.QueueStatus? {
        let before = monotonicTime().nanoseconds
        spend()
        let (origin, asked, ticks) = (kernel.origin, kernel.now, kernel.ticks)
        let after = monotonicTime().nanoseconds
        return origin.map { origin in
            let limits = [before, after].map { MonotonicTime(nanoseconds: origin + $0 - asked) }
            return SequencerSender.QueueStatus(origin: limits[0]...limits[1], ticks: ticks)
        }
    }

    mutating func stopQueue() {
        spend()
        kernel.stopQueue()
    }

    var room: Int {
        spend()
        return kernel.roomLeft
    }

    mutating func enqueue(_ messages: UnsafeMutableBufferPointer<ScheduledMessage>) -> Int {
        for index in messages.indices {
            guard let port = messages[index].port else { continue }
            spend()
            guard kernel.queue(messages[index], port: port) else { return index }
        }
        return messages.count
    }

    mutating func takeRefusals() -> UInt64 {
        spend()
        return kernel.takeRefusals()
    }

}
