import Glibc
import RealTime
import Testing

@testable import CardOutput

@Suite
struct BusAttemptsTests {
    private let reset = SystemCallError(operation: "receive from the session's bus", code: ECONNRESET)

    private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    @Test
    func `a bus that fails is told of once, tried every five seconds, and told of when it has held for a minute`() {
        var attempts = BusAttempts()
        attempts.answered(at: at(1))
        #expect(attempts.next == nil && attempts.backAt == nil, "nothing was wrong")
        #expect(attempts.failed(reset, at: at(100)) == .lost(reset))
        for attempt in 1...100 {
            #expect(attempts.next == at(100 + 5 * Double(attempt)))
            #expect(attempts.failed(reset, at: at(100 + 5 * Double(attempt))) == nil)
        }
        attempts.answered(at: at(605))
        attempts.answered(at: at(660))
        #expect(attempts.backAt == at(665) && attempts.timePassed(to: at(664.9)) == nil)
        #expect(attempts.timePassed(to: at(665)) == .back)
        #expect(attempts.backAt == nil && attempts.timePassed(to: at(666)) == nil)
        #expect(attempts.failed(reset, at: at(1_000)) == .lost(reset), "it has failed anew")
    }

    @Test
    func `a bus that answers and fails every five seconds is told of once`() {
        var attempts = BusAttempts()
        attempts.answered(at: at(1))
        #expect(attempts.failed(reset, at: at(2)) == .lost(reset))
        for second in stride(from: 7.0, to: 10_000, by: 5) {
            attempts.answered(at: at(second))
            #expect(attempts.timePassed(to: at(second + 4)) == nil)
            #expect(attempts.failed(reset, at: at(second + 4)) == nil && attempts.backAt == nil)
        }
    }

    @Test
    func `a bus that was absent is told to be there, and to be lost only after that`() {
        var attempts = BusAttempts()
        let absent = SystemCallError(operation: "connect to the session's bus", code: ENOENT)
        #expect(attempts.failed(absent, at: at(1)) == .absent(absent))
        attempts.answered(at: at(6))
        #expect(attempts.failed(reset, at: at(7)) == nil)
        attempts.answered(at: at(12))
        #expect(attempts.timePassed(to: at(72)) == .back)
        #expect(attempts.failed(reset, at: at(80)) == .lost(reset))
    }

    @Test(arguments: [(ENOENT, true), (ECONNREFUSED, true), (ENOMEDIUM, false), (ELIBACC, false)])
    func `a bus that is not there may come later, but not without libsystemd or the session's variables`(
        code: Int32, comes: Bool
    ) {
        var attempts = BusAttempts()
        let error = SystemCallError(operation: "connect to the session's bus", code: code)
        #expect(attempts.failed(error, at: at(1)) == .absent(error))
        #expect(attempts.next == (comes ? at(6) : nil))
    }
}
