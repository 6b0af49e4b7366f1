import Glibc
import RealTime
import Testing

@testable import CardOutput

@Suite
struct BusAttemptsTests {
    private let reset = SystemCallError(operation: "receive from the session's bus", code: ECONNRESET)

    private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    @Test
    func `a bus that fails is told of once, tried every five seconds, and told of when it is back`() {
        var attempts = BusAttempts()
        #expect(attempts.answered() == nil && attempts.next == nil)
        #expect(attempts.failed(reset, at: at(100)) == .lost(reset))
        for attempt in 1...100 {
            #expect(attempts.next == at(100 + 5 * Double(attempt)))
            #expect(attempts.failed(reset, at: at(100 + 5 * Double(attempt))) == nil)
        }
        #expect(attempts.answered() == .back)
        #expect(attempts.answered() == nil)
        #expect(attempts.failed(reset, at: at(1_000)) == .lost(reset), "it has failed anew")
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
