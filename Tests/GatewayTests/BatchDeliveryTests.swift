import ALSASequencer
import BeatTime
import MIDIClock
import Testing

@testable import Gateway

@Suite
struct BatchDeliveryTests {
    private static func tick(_ time: Int) -> ClockInputEvent {
        .arrival(ClockArrival(.timingClock, at: HostTime(microseconds: Int64(time)), from: .device))
    }

    @Test
    func `everything arrives in order, in batches of limited size`() {
        var delivery = BatchDelivery()
        var batches: [[ClockInputEvent]] = []
        let events = (0..<1_000).map(Self.tick)
        for start in stride(from: 0, to: 1_000, by: 250) {
            delivery.add(Array(events[start..<start + 250])) {
                batches.append($0); return true
            }
        }
        #expect(batches.flatMap(\.self) == events)
        #expect(batches.allSatisfy { !$0.isEmpty && $0.count <= ClockInput.batch })
    }

    @Test
    func `after lost batches the next begins with one overflow`() {
        var delivery = BatchDelivery()
        var heard: [ClockInputEvent] = []
        var isFull = false
        for number in 0..<10 {
            isFull = (3...5).contains(number)
            delivery.add([Self.tick(number)]) { batch in
                guard !isFull else { return false }
                heard += batch
                return true
            }
        }
        #expect(heard == (0..<3).map(Self.tick) + [.overflow] + (6..<10).map(Self.tick))
    }

    @Test
    func `a batch with an overflow keeps its limit`() {
        var delivery = BatchDelivery()
        delivery.add((0..<10).map(Self.tick)) { _ in false }
        delivery.add((0..<5).map(Self.tick)) { _ in false }
        var batches: [[ClockInputEvent]] = []
        delivery.add((0..<300).map(Self.tick)) {
            batches.append($0); return true
        }
        #expect(batches.first?.prefix(2) == [.overflow, Self.tick(0)])
        #expect(batches.allSatisfy { $0.count <= ClockInput.batch })
        #expect(batches.flatMap(\.self).count == 301)
    }
}
