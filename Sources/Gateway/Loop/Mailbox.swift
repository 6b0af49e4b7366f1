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

    /// Adds an event for the polling thread; any thread.
    ///
    /// - Parameters:
    ///   - event: for the polling thread.
    ///   - room: places to leave free for other senders, so that a flood cannot crowd them out. The sender must handle
    ///     the loss.
    /// - Returns: false if there is no room or the queue is closed; the event was not added then.
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

    /// Adds the answer to an earlier event, even if the queue is full; any thread.
    func postAnswer(_ event: Event) {
        contents.withLock { if !$0.isClosed { $0.events.append(event) } }
        wakeUp.signal()
    }

    /// Wakes the polling thread; any thread.
    func wake() { wakeUp.signal() }

    /// Removes all events, in order, and tells whether any were rejected; the polling thread only.
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

    /// Rejects all further events; those already in can still be taken.
    func close() { contents.withLock { $0.isClosed = true } }
}
