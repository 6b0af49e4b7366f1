internal import BeatTime

/// A time in the simulated world, in microseconds since it began; no node's clock shows it.
package struct WorldTime: Instant {
    package var microseconds: Int64

    package init(microseconds: Int64) { self.microseconds = microseconds }

    package static func seconds(_ seconds: Double) -> WorldTime {
        WorldTime(microseconds: Int64((seconds * 1e6).rounded()))
    }
}

/// Events in virtual time: whatever is due next happens next, and what is due together happens as it was scheduled.
package struct Simulation<Event> {
    /// The time of the event that is happening.
    package private(set) var now = WorldTime(microseconds: 0)
    /// How many events have happened.
    package private(set) var eventCount = 0
    private var heap: [Entry] = []
    private var insertions: UInt64 = 0

    private struct Entry {
        let time: WorldTime
        let insertion: UInt64
        let event: Event

        func precedes(_ other: Entry) -> Bool {
            time == other.time ? insertion < other.insertion : time < other.time
        }
    }

    package init() {}

    /// Has an event happen at a time; one that has passed means now.
    package mutating func schedule(_ event: Event, at time: WorldTime) {
        insertions += 1
        heap.append(Entry(time: max(time, now), insertion: insertions, event: event))
        var child = heap.count - 1
        while child > 0, heap[child].precedes(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes the next event that is due up to and including a time; without one, that time has come.
    package mutating func next(until end: WorldTime) -> Event? {
        guard let first = heap.first, first.time <= end else {
            now = max(now, end)
            return nil
        }
        removeFirst()
        now = first.time
        eventCount += 1
        return first.event
    }

    /// Lets everything happen that is due up to and including a time.
    package mutating func run(until end: WorldTime, _ body: (inout Simulation, Event) throws -> Void) rethrows {
        while let event = next(until: end) { try body(&self, event) }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].precedes(heap[least]) { least = child }
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
