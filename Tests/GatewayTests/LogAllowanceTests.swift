import BeatTime
import Testing

@testable import Gateway

/// How many log lines the network can cause.
@Suite
struct LogAllowanceTests {
    private static func at(_ seconds: Double) -> HostTime { HostTime(microseconds: Int64(seconds * 1_000_000)) }

    /// How many of a hundred lines are allowed.
    private static func allowed(_ allowance: inout LogAllowance, at seconds: Double) -> Int {
        (0..<100).count { _ in allowance.takes(at: at(seconds)) }
    }

    @Test
    func `thirty lines are allowed at once, and then one every ten seconds`() {
        var allowance = LogAllowance()
        let first = Self.allowed(&allowance, at: 1_000)
        #expect(first == 30 && allowance.leftOut == 70)
        #expect(allowance.deadline == Self.at(1_010))
        let later = (1_001...1_100).filter { allowance.takes(at: Self.at(Double($0))) }
        #expect(later == Array(stride(from: 1_010, through: 1_100, by: 10)))
        let muchLater = Self.allowed(&allowance, at: 2_000)
        #expect(muchLater == 30)
    }

    @Test
    func `the number of lines left out is told once, and takes a line's place`() {
        var allowance = LogAllowance()
        let told = [0.0, 9, 10, 10, 60].map { seconds in
            if seconds == 0 { for _ in 0..<35 { _ = allowance.takes(at: Self.at(0)) } }
            return allowance.takeLeftOut(at: Self.at(seconds))
        }
        #expect(told == [nil, nil, 5, nil, nil])
        #expect(allowance.deadline == nil)
        let again = allowance.takes(at: Self.at(19))
        #expect(!again)
    }
}
