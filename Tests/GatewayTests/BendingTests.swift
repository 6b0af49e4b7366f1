import BeatTime
import ConfigurationFiles
import MIDIClock
import Testing

@testable import Gateway

@Suite
struct BendingTests {
    private static let (left, right) = (
        BendHolder.button(port: "Pad", .init(.note, 1)), BendHolder.button(port: "Pad", .init(.note, 2))
    )

    private func at(_ seconds: Double) -> HostTime { HostTime(microseconds: Int64(seconds * 1e6)) }

    @Test
    func `of two hands the last one counts, and the bend lasts until both have let go`() {
        for first in [Self.left, .command] {
            var bending = Bending()
            var changes = [bending.hold(4, for: 10_000_000, by: first, at: at(0))]
            changes.append(bending.hold(-4, for: 10_000_000, by: Self.right, at: at(1)))
            #expect(bending.rate == -40_000)
            changes.append(bending.hold(0, for: 0, by: first, at: at(2)))
            #expect(bending.rate == -40_000, "the other hand still holds it")
            changes.append(bending.hold(0, for: 0, by: Self.right, at: at(3)))
            #expect(bending.rate == 0 && bending.deadline == nil)
            #expect(changes == [true, true, false, true])

            _ = bending.hold(4, for: 10_000_000, by: first, at: at(4))
            _ = bending.hold(-4, for: 10_000_000, by: Self.right, at: at(5))
            _ = bending.hold(0, for: 0, by: Self.right, at: at(6))
            #expect(bending.rate == 40_000)
            _ = bending.hold(0, for: 0, by: first, at: at(7))
            #expect(bending.rate == 0)
        }
    }

    @Test
    func `each hold ends by itself, and a sign that it goes on does not make it the last`() {
        var bending = Bending()
        _ = bending.hold(8, for: 1_000_000, by: .command, at: at(0))
        _ = bending.hold(4, for: 10_000_000, by: Self.left, at: at(0.5))
        var changes = [bending.hold(8, for: 1_000_000, by: .command, at: at(0.9))]
        #expect(bending.rate == 40_000 && bending.deadline == at(1.9))
        changes.append(bending.endIfOver(at: at(1.9)))
        #expect(bending.rate == 40_000 && bending.deadline == at(10.5))
        changes.append(bending.endIfOver(at: at(10.5)))
        #expect(bending.rate == 0 && bending.deadline == nil && changes == [false, false, true])
    }

    @Test
    func `who holds it faster or slower than before counts as the last, and holds it once`() {
        var bending = Bending()
        _ = bending.hold(8, for: 1_000_000, by: .command, at: at(0))
        _ = bending.hold(4, for: 1_000_000, by: Self.left, at: at(0))
        _ = bending.hold(-8, for: 1_000_000, by: .command, at: at(0.1))
        #expect(bending.rate == -80_000)
        _ = bending.hold(0, for: 0, by: .command, at: at(0.2))
        #expect(bending.rate == 40_000)
    }
}
