internal import RealTime
internal import Synchronization

/// A bounded queue into one thread that polls.
final class Mailbox<Event: Sendable>: Sendable {
    private let events = Mutex<[Event]>([])
    private let wakeUp: WakeUp
    private let capacity: Int

    init(capacity: Int) throws(SystemCallError) {
        self.capacity = capacity
        wakeUp = try WakeUp()
    }

    /// The descriptor to poll for input.
    var descriptor: Int32 { wakeUp.descriptor }

    /// Puts an event in, for the polling thread to take; any thread.
    ///
    /// - Returns: false if the queue is full, and then the event is not in it.
    func post(_ event: Event) -> Bool {
        let isIn = events.withLock { events in
            guard events.count < capacity else { return false }
            events.append(event)
            return true
        }
        if isIn { wakeUp.signal() }
        return isIn
    }

    /// All events in the order they came; the polling thread only.
    func takeAll() -> [Event] {
        wakeUp.clear()
        return events.withLock { events in
            defer { events.removeAll(keepingCapacity: true) }
            return events
        }
    }
}
