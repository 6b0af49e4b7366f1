import ALSASequencer
import BeatTime
import ClockMeter
import Glibc
import MIDIClock
import RealTime
import Synchronization

/// A thread that reads a clock and passes its messages to a meter.
final class MonitorReader: Sendable {
    /// What has been received.
    struct Heard: Sendable {
        var meter: ClockMeter
        /// The source whose clock is measured: the first one that sends anything.
        var source: ClockSource?
        /// Others that send to the same port, and are not measured.
        var others: Set<ClockSource> = []
        /// Why the source has ended; nil while it goes on.
        var end: LineGone?
    }

    let line: ClockLine
    private let heard: Mutex<Heard>
    private let wakeUp: WakeUp
    private let isStopping = Atomic(false)
    private let thread = Mutex<RealTimeThread?>(nil)

    /// Real-time priority, because without the kernel's timestamps, late reading would count as jitter.
    private static let priority: Int32 = 60
    fileprivate static let mostOthers = 16

    /// Starts the thread.
    ///
    /// - Parameter line: the source; nothing else may read it.
    /// - Throws: if the thread or its wake-up descriptor cannot be created.
    init(_ line: ClockLine) throws(SystemCallError) {
        self.line = line
        wakeUp = try WakeUp()
        heard = Mutex(Heard(meter: ClockMeter(start: .now())))
        let reading = try RealTimeThread(name: "tactus-monitor", priority: line.hasKernelStamps ? 0 : Self.priority) {
            [self] in run()
        }
        thread.withLock { $0 = reading }
    }

    /// What has been received so far.
    func soFar() -> Heard {
        let now = HostTime.now()
        return heard.withLock { heard in
            heard.meter.timePassed(to: now)
            return heard
        }
    }

    /// Forgets what has been received.
    func beginAnew() { heard.withLock { $0 = Heard(meter: ClockMeter(start: .now())) } }

    /// Ends the thread.
    func stop() {
        isStopping.store(true, ordering: .releasing)
        wakeUp.signal()
        thread.withLock { $0?.join() }
    }

    private func run() {
        var descriptors = [line.descriptor, wakeUp.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var events: [ClockInputEvent] = []
        while !isStopping.load(ordering: .acquiring) {
            poll(&descriptors, until: nil)
            do {
                try line.take(&events)
            } catch {
                heard.withLock { $0.end = error }
                return
            }
            let batch = events
            heard.withLock { heard in for event in batch { heard.take(event) } }
            events.removeAll(keepingCapacity: true)
        }
    }
}

extension MonitorReader.Heard {
    /// Passes the waiting messages to the meter.
    mutating func take(_ event: ClockInputEvent) {
        guard case .arrival(let arrival) = event else { return meter.messagesLost() }
        if source == nil { source = arrival.source }
        if arrival.source == source {
            meter.received(arrival.message, at: arrival.time)
        } else if others.count < MonitorReader.mostOthers {
            others.insert(arrival.source)
        }
    }
}
