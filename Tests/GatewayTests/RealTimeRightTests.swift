import GatewayStatus
import RealTime
import Testing

@testable import Gateway

@Suite
struct RealTimeRightTests {
    private func told(
        wanted: Int = 80, scheduling: Scheduling = .other, _ request: RealTimeRight.Request
    ) -> String? {
        let right = RealTimeRight(priorityWanted: wanted, scheduling: scheduling, request: request)
        let warning = right.notice
        #expect(warning == nil || warning?.code == "no-realtime" && warning?.fix.isEmpty == false)
        return warning?.message
    }

    @Test
    func `whoever has priority, or wants none, is not warned`() {
        #expect(told(scheduling: .fifo(priority: 80), .none) == nil)
        #expect(told(scheduling: .roundRobin(priority: 20), .answered(.granted)) == nil)
        #expect(told(wanted: 0, .none) == nil)
    }

    @Test
    func `nobody is warned while an answer is awaited`() {
        #expect(told(.waiting) == nil)
    }

    @Test
    func `the warning says who refused, or who took it back`() {
        #expect(told(.none) == "real-time scheduling was refused, so ticks may be late under load")
        #expect(told(.answered(.refused("rtkit is not installed")))?.hasSuffix("and rtkit is not installed") == true)
        #expect(told(.answered(.overrun))?.hasPrefix("the clock ran for too long without a pause") == true)
        #expect(told(.answered(.granted))?.hasPrefix("rtkit took the real-time scheduling back") == true)
    }
}
