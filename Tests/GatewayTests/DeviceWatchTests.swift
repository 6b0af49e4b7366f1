import ALSASequencer
import BeatTime
import Testing

@testable import Gateway

@Suite
struct DeviceWatchTests {
    /// For each check: bytes that the driver has sent, bytes that wait, and whether the device is stuck then.
    @Test(arguments: [
        [(0, 0, false), (48, 0, false), (96, 1, false), (144, 1, false)],
        [(48, 1, false), (48, 90, true), (48, 4096, true), (4144, 0, false)],
        [(48, 90, false), (49, 89, false), (50, 4096, false)],
        // A device with 'when: playing' is sent nothing while the song is stopped.
        [(48, 0, false), (48, 0, false)],
    ])
    func `a device is stuck if something waits and it has accepted nothing since the last check`(
        checks: [(sent: Int, waiting: Int, isStuck: Bool)]
    ) {
        var output = connected()
        for check in checks {
            let was = output.isStuck
            let hasChanged = output.note(DriverBuffer(sent: check.sent, waiting: check.waiting))
            #expect(output.isStuck == check.isStuck)
            #expect(hasChanged == (was != check.isStuck))
        }
    }

    @Test
    func `a stuck device that accepts messages again joins like a new one`() {
        var output = stuck()
        let before = output.connections
        _ = output.note(DriverBuffer(sent: 4144, waiting: 0))
        #expect(!output.isStuck)
        #expect(output.connections == before + 1)
    }

    @Test
    func `a stuck device that is removed is no longer stuck, even after it returns`() {
        var output = stuck()
        _ = output.setConnected(to: nil)
        #expect(!output.isStuck)
        _ = output.setConnected(to: "25:0")
        let hasChanged = output.note(DriverBuffer(sent: 0, waiting: 5))
        #expect(!hasChanged && !output.isStuck)
    }

    @Test
    func `checks are an interval apart, and stop when there is nothing to check`() {
        var watch = DeviceWatch()
        var checks: [Int64] = []
        for second in 0..<20 {
            let now = HostTime(microseconds: Int64(second) * 1_000_000)
            if watch.isDue(isWanted: !(8...9).contains(second), at: now) { checks.append(Int64(second)) }
        }
        #expect(checks == [3, 6, 13, 16, 19])
        #expect(watch.next == HostTime(microseconds: 22_000_000))
    }

    private func connected() -> Output {
        var output = Output("Drums")
        _ = output.setConnected(to: "24:0")
        return output
    }

    private func stuck() -> Output {
        var output = connected()
        for waiting in [1, 90] { _ = output.note(DriverBuffer(sent: 48, waiting: waiting)) }
        return output
    }
}
