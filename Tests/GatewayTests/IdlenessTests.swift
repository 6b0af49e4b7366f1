import BeatTime
import Testing

@testable import Gateway

@Suite
struct IdlenessTests {
    private static let begun = HostTime(microseconds: 1_000_000_000)

    private static func at(_ milliseconds: Int64) -> HostTime {
        begun.advanced(byMicroseconds: milliseconds * 1_000)
    }

    /// Whether Link is active at checks at the given times.
    ///
    /// At each of them it was used or not, and last watched at some time.
    @Test(arguments: [
        // In use, then no more: the timeout starts at the check that noticed.
        [
            (0, true, -9_000, true), (60_000, true, -9_000, true), (90_000, false, -9_000, true),
            (92_999, false, -9_000, true), (93_000, false, -9_000, false),
        ],
        // Never used, but watched.
        [
            (0, false, -9_000, true), (2_000, false, 1_950, true), (4_949, false, 1_950, true),
            (4_950, false, 1_950, false),
        ],
        // Used again, watched again.
        [
            (0, false, -9_000, true), (3_000, false, -9_000, false), (4_000, true, -9_000, true),
            (5_000, false, -9_000, true),
            (8_000, false, -9_000, false), (9_000, false, 9_000, true),
        ],
    ])
    func `Link leaves after some time without use, and returns at once`(
        checks: [(at: Int64, isUsed: Bool, watched: Int64, isActive: Bool)]
    ) {
        var idleness = Idleness(at: Self.begun)
        for check in checks {
            let before = idleness.isActive
            let hasChanged = idleness.hasChanged(
                isUsed: check.isUsed, lastWatched: Self.at(check.watched), at: Self.at(check.at))
            #expect(idleness.isActive == check.isActive, "at \(check.at)")
            #expect(hasChanged == (before != check.isActive))
        }
    }

    @Test
    func `it asks for a check when its timeout ends, and only then`() {
        var idleness = Idleness(at: Self.begun)
        _ = idleness.hasChanged(isUsed: true, lastWatched: Self.at(-9_000), at: Self.at(100))
        #expect(idleness.next == nil)
        _ = idleness.hasChanged(isUsed: false, lastWatched: Self.at(-9_000), at: Self.at(200))
        #expect(idleness.next == Self.at(3_200))
        _ = idleness.hasChanged(isUsed: false, lastWatched: Self.at(3_100), at: Self.at(3_200))
        #expect(idleness.next == Self.at(6_100))
        _ = idleness.hasChanged(isUsed: false, lastWatched: Self.at(3_100), at: Self.at(6_100))
        #expect(!idleness.isActive && idleness.next == nil)
    }
}
