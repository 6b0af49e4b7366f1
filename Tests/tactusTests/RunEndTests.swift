import Glibc
import RealTime
import Testing

@testable import tactus

/// In virtual time.
@Suite
struct RunEndTests {
    private func time(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: Int64(seconds * 1e9)) }

    /// What each of several signals does that come at 10 s.
    private func answers(to signals: [Int32], _ end: inout RunEnd) -> [[RunEnd.Action]] {
        var answers: [[RunEnd.Action]] = []
        for signal in signals { answers.append(end.requested(by: signal, at: time(10))) }
        return answers
    }

    @Test
    func `one request suffices, whatever hangs: the machines are stopped within 2 s, and the process ends`() throws {
        var end = RunEnd(isForced: true)
        #expect(end.deadline == nil)
        let answers = answers(to: [SIGTERM], &end)
        #expect(answers == [[.begin]])
        let stop = try #require(end.deadline)
        #expect(stop < time(12))
        let (early, due) = (end.timePassed(to: stop.advanced(byNanoseconds: -1)), end.timePassed(to: stop))
        #expect(early == nil && due == .stopMachines)
        let exit = try #require(end.deadline)
        let (later, last) = (end.timePassed(to: exit.advanced(byNanoseconds: -1)), end.timePassed(to: exit))
        #expect(later == nil && last == .exit(code: 128 + SIGTERM))
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGQUIT])
    func `a second request ends the process at once, after a Stop`(second: Int32) {
        for isForced in [true, false] {
            var end = RunEnd(isForced: isForced)
            let answers = answers(to: [SIGINT, second], &end)
            #expect(answers == [[.begin], [.stopMachines, .exit(code: 128 + second)]])
        }
    }

    @Test
    func `a closing terminal may send two signals, and still gives the time for an orderly end`() {
        var end = RunEnd(isForced: true)
        let answers = answers(to: [SIGHUP, SIGHUP, SIGTERM, SIGTERM], &end)
        #expect(answers == [[.begin], [], [], [.stopMachines, .exit(code: 128 + SIGTERM)]])
    }

    @Test
    func `a command without machines has all the time it needs`() {
        var end = RunEnd(isForced: false)
        let answers = answers(to: [SIGINT], &end)
        #expect(answers == [[.begin]])
        #expect(end.deadline == nil)
    }
}
