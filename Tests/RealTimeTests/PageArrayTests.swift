import Glibc
import RealTime
import Testing

@Suite
struct PageArrayTests {
    /// Counts its living instances.
    private struct Element: ~Copyable {
        let alive: Tally
        init(_ alive: Tally) {
            self.alive = alive
            alive.count += 1
        }
        deinit { alive.count -= 1 }
    }

    private final class Tally { var count = 0 }

    @Test
    func `an array starts at a page boundary`() {
        let page = Int(getpagesize())
        for count in 1...8 {
            let array = PageArray(count: count) { _ in 0 }
            #expect(Int(bitPattern: array.start) % page == 0)
        }
    }

    @Test
    func `elements live exactly as long as the array`() {
        let tally = Tally()
        do {
            let array = PageArray(count: 3) { _ in Element(tally) }
            #expect(array[2].alive.count == 3)
        }
        #expect(tally.count == 0)
    }

    @Test
    func `an array that cannot be filled leaks nothing`() {
        struct NoMore: Error {}
        let tally = Tally()
        #expect(throws: NoMore.self) {
            _ = try PageArray(count: 3) { index throws(NoMore) in
                guard index < 2 else { throw NoMore() }
                return Element(tally)
            }
        }
        #expect(tally.count == 0)
    }

    @Test
    func `an element keeps what is written to it`() {
        let array = PageArray(count: 2) { _ in (ticks: 0, beats: 0) }
        array[1].ticks += 24
        #expect(array[1].ticks == 24 && array[0].ticks == 0)
    }
}
