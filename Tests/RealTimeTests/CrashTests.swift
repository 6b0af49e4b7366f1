import Foundation
import RealTime
import Synchronization
import Testing

/// A process that crashes while another thread still has work to finish.
@Suite
struct CrashTests {
    @Test
    func `a trap ends the process as usual, after the other thread has finished`() async {
        let outcome = await #expect(processExitsWith: .failure, observing: [\.standardOutputContent]) {
            try startFinisher()
            fatalError()
        }
        expectFinished(outcome)
    }

    @Test
    func `so does abort`() async {
        let outcome = await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardOutputContent]) {
            try startFinisher()
            abort()
        }
        expectFinished(outcome)
    }

    @Test
    func `so does a signal from outside`() async {
        let outcome = await #expect(processExitsWith: .signal(SIGSEGV), observing: [\.standardOutputContent]) {
            try startFinisher()
            kill(getpid(), SIGSEGV)
            while true { sleep(10) }
        }
        expectFinished(outcome)
    }

    @Test
    func `so does a stack overflow in a thread of ours`() async {
        let outcome = await #expect(processExitsWith: .signal(SIGSEGV), observing: [\.standardOutputContent]) {
            try startFinisher()
            let thread = try RealTimeThread(name: "overflow", priority: 0) { _ = overflow(1) }
            thread.join()
        }
        expectFinished(outcome)
    }

    @Test
    func `so does a process that ends at once, if it asks for it`() async {
        let outcome = await #expect(processExitsWith: .exitCode(9), observing: [\.standardOutputContent]) {
            try startFinisher()
            Crash.finishNow(atMost: 30_000)
            _exit(9)
        }
        expectFinished(outcome)
    }

    @Test
    func `a crash of the finishing thread itself ends the process at once`() async {
        let outcome = await #expect(processExitsWith: .failure, observing: [\.standardOutputContent]) {
            try startFinisher { fatalError() }
            while true { sleep(10) }
        }
        #expect(outcome.map { !String(decoding: $0.standardOutputContent, as: UTF8.self).contains("finished") } == true)
    }

    @Test
    func `a thread that never finishes delays the crash only for a moment`() async {
        await #expect(processExitsWith: .signal(SIGABRT)) {
            try startFinisher(waitingAtMost: 200) { while true { sleep(10) } }
            abort()
        }
    }

    private func expectFinished(_ outcome: ExitTest.Result?) {
        let output = outcome.map { String(decoding: $0.standardOutputContent, as: UTF8.self) }
        #expect(output?.contains("finished") == true)
    }
}

/// Starts a thread that prints "finished" when another has crashed, after doing some work.
///
/// A crash waits for it much longer than in the program, because on a busy machine it may not run for long.
private func startFinisher(
    waitingAtMost milliseconds: Int32 = 60_000, doing work: @escaping @Sendable () -> Void = {}
) throws {
    let (buffer, isReady) = (TripleBuffer(0), Flag())
    Crash.waitForFinisher(atMost: milliseconds)
    _ = try RealTimeThread(name: "finisher", priority: 0) {
        buffer.finishBeforeCrash()
        isReady.value.store(true, ordering: .releasing)
        work()
        while true {
            let edition = buffer.edition
            guard !Crash.mustFinish else { break }
            _ = buffer.wait(seen: edition, until: MonotonicTime.now().advanced(byNanoseconds: 10_000_000_000))
        }
        let text = Array("finished".utf8)
        _ = write(STDOUT_FILENO, text, text.count)
        buffer.finished()
    }
    while !isReady.value.load(ordering: .acquiring) { sched_yield() }
}

private final class Flag: Sendable {
    let value = Atomic(false)
}

@inline(never)
private func overflow(_ depth: Int) -> Int {
    withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 16) { room in
        room[0] = UInt8(truncatingIfNeeded: depth)
        return overflow(depth + 1) + Int(room[0])
    }
}
