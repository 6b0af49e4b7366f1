import RealTime
import Synchronization
import Testing

@Suite
struct TripleBufferTests {
    @Test
    func `the reader gets the last published value, and gets it again until there is a newer one`() {
        let buffer = TripleBuffer(1)
        #expect(buffer.withLatest { $0 } == 1)
        buffer.publish(2)
        buffer.publish(3)
        #expect(buffer.withLatest { $0 } == 3)
        #expect(buffer.withLatest { $0 } == 3)
        buffer.publish(4)
        #expect(buffer.withLatest { $0 } == 4)
    }

    /// Two numbers that belong together; a torn read would separate them.
    private struct Pair: BitwiseCopyable, Sendable {
        var value: Int
        var negative: Int
        var ballast = InlineArray<64, Int>(repeating: 0)
    }

    @Test
    func `a reader on another thread never gets half of a value, nor an older one after a newer`() throws {
        let buffer = TripleBuffer(Pair(value: 0, negative: 0))
        let isDone = Atomic(false)
        let torn = Atomic(0)
        let reader = try RealTimeThread(name: "reader", priority: 0) {
            var last = 0
            repeat {
                let (value, negative) = buffer.withLatest { ($0.value, $0.negative) }
                if value != -negative || value < last { torn.add(1, ordering: .relaxed) }
                last = value
            } while !isDone.load(ordering: .acquiring)
        }
        for value in 1...200_000 { buffer.publish(Pair(value: value, negative: -value)) }
        isDone.store(true, ordering: .releasing)
        reader.join()
        #expect(torn.load(ordering: .relaxed) == 0)
        #expect(buffer.withLatest { $0.value } == 200_000)
    }

    @Test
    func `waiting ends with a newly published value, or at its deadline`() throws {
        let buffer = TripleBuffer(0)
        let seen = buffer.edition
        buffer.publish(1)
        let wasLate = buffer.wait(seen: seen, until: MonotonicTime(nanoseconds: .max / 2))
        #expect(!wasLate, "there was an update already")
        let isOver = buffer.wait(seen: buffer.edition, until: MonotonicTime.now())
        #expect(isOver)
        let writer = try RealTimeThread(name: "writer", priority: 0) { buffer.publish(2) }
        var latest = 1
        while latest != 2 {
            let edition = buffer.edition
            latest = buffer.withLatest { $0 }
            // Without the writer's wake-up this would wait forever.
            if latest != 2 { _ = buffer.wait(seen: edition, until: MonotonicTime(nanoseconds: .max / 2)) }
        }
        writer.join()
    }
}
