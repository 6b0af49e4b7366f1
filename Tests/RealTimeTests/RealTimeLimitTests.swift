import Foundation
import Testing

@testable import RealTime

/// A process with a limit of how long its real-time threads may run without sleeping.
@Suite(.enabled(if: RealTimeThread.isGranted(priority: 5)))
struct RealTimeLimitTests {
    @Test
    func `a real-time thread that never sleeps loses its priority, and the process lives`() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let overrun = try WakeUp()
            // Thread 0 is whichever gets the signal.
            try RealTimeLimit.set(thread: 0, microseconds: 200_000, overrun: overrun)
            let thread = try RealTimeThread(name: "greedy", priority: 5) {
                while Scheduling.ofThisThread.isRealTime {}
            }
            thread.join()
            exit(ifReadable: overrun)
        }
    }

    @Test
    func `a signal to the process takes the priority from the thread that it is for`() async {
        await #expect(processExitsWith: .exitCode(7)) {
            let (overrun, end) = (try WakeUp(), try WakeUp())
            let thread = try RealTimeThread(name: "asleep", priority: 5) { wait(for: end) }
            guard thread.scheduling == .fifo(priority: 5) else { return }
            try RealTimeLimit.set(thread: thread.id, microseconds: 200_000, overrun: overrun)
            kill(getpid(), SIGXCPU)
            wait(for: overrun)
            guard thread.scheduling == .other else { return }
            end.signal()
            thread.join()
            exit(ifReadable: overrun)
        }
    }
}

private func wait(for wakeUp: WakeUp) {
    var descriptors = [pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)]
    while descriptors[0].revents == 0 { poll(&descriptors, until: nil) }
}

private func exit(ifReadable wakeUp: WakeUp) {
    var descriptors = [pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)]
    poll(&descriptors, until: .now())
    if descriptors[0].revents != 0 { exit(7) }
}
