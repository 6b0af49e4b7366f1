internal import RealTime
internal import Synchronization

/// A bounded queue into one thread that polls.
final class Mailbox<Event: Sendable>: Sendable {
    private let contents = Mutex(Contents())
    private let wakeUp: WakeUp
    private let capacity: Int

    private struct Contents {
        var events: [Event] = []
        var isClosed = false
        var hasOverflown = false
    }

    init(capacity: Int) throws(SystemCallError) {
        self.capacity = capacity
        wakeUp = try WakeUp()
    }

    /// The descriptor to poll for input.
    var descriptor: Int32 { wakeUp.descriptor }

    /// Puts an event in, for the polling thread to take; any thread.
    ///
    /// - Parameters:
    ///   - event: for the polling thread.
    ///   - room: places that this event must leave free for others. Who floods is kept from crowding them out, and the
    ///     loss is the poster's to make up for.
    /// - Returns: false if there is no place or the queue is closed, and then the event is not in it.
    func post(_ event: Event, leaving room: Int = 0) -> Bool {
        let isIn = contents.withLock { contents in
            guard !contents.isClosed, contents.events.count < capacity - room else {
                if room == 0 { contents.hasOverflown = true }
                return false
            }
            contents.events.append(event)
            return true
        }
        if isIn { wakeUp.signal() }
        return isIn
    }

    /// Puts in what answers an event that was let in before: it has its place, full or not; any thread.
    func postAnswer(_ event: Event) {
        contents.withLock { if !$0.isClosed { $0.events.append(event) } }
        wakeUp.signal()
    }

    /// Wakes the polling thread; any thread.
    func wake() { wakeUp.signal() }

    /// All events in the order they came, and whether others found no room; the polling thread only.
    func takeAll() -> (events: [Event], isMissingSome: Bool) {
        wakeUp.clear()
        return contents.withLock { contents in
            defer {
                contents.events.removeAll(keepingCapacity: true)
                contents.hasOverflown = false
            }
            return (contents.events, contents.hasOverflown)
        }
    }

    /// Lets nothing in any more; what is in already can still be taken.
    func close() { contents.withLock { $0.isClosed = true } }
}
