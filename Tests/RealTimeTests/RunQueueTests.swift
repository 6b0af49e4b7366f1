import Synchronization
import Testing

@testable import RealTime

@Suite
struct RunQueueTests {
    @Test(arguments: [
        ("0.20 0.18 0.12 1/80 11206\n", 1), ("12.00 9.31 4.77 37/1204 918273\n", 37), ("0.20 0.18 0.12", 0), ("", 0),
        ("0.1 0.1 0.1 /80 1", 0),
    ])
    func `the number before the slash is the number of running threads`(line: String, expected: Int) {
        #expect(RunQueue.running(in: Array(line.utf8)) == expected)
    }

    @Test
    func `the kernel counts a thread that never rests`() throws {
        let isEnding = Atomic(false)
        let restless = try RealTimeThread(name: "restless", priority: 0) {
            while !isEnding.load(ordering: .relaxed) {}
        }
        #expect((0..<1000).contains { _ in RunQueue.countOthers() >= 1 })
        isEnding.store(true, ordering: .relaxed)
        restless.join()
    }
}
