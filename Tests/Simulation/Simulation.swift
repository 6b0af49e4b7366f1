internal import BeatTime

/// A time in the simulated world, in microseconds since its start; no node's clock shows it.
package struct WorldTime: Instant {
    package var microseconds: Int64

    package init(microseconds: Int64) { self.microseconds = microseconds }

    package static func seconds(_ seconds: Double) -> WorldTime {
        WorldTime(microseconds: Int64((seconds * 1e6).rounded()))
    }
}

/// Events in virtual time, handled in order of time; simultaneous ones in the order of scheduling.
package struct Simulation<Event> {
    /// The time of the present event.
    package private(set) var now = WorldTime(microseconds: 0)
    /// Number of events so far.
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

    /// Schedules an event; a time in the past means now.
    package mutating func schedule(_ event: Event, at time: WorldTime) {
        insertions += 1
        heap.append(Entry(time: max(time, now), insertion: insertions, event: event))
        var child = heap.count - 1
        while child > 0, heap[child].precedes(heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes the next event due up to a time; if there is none, advances to that time.
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

    /// Handles all events due up to a time.
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
