import Testing

@testable import RealTime

@Suite
struct RunningKernelTests {
    @Test(arguments: [
        ("#1 SMP PREEMPT_RT Debian 6.1.148-1 (2025-08-26)", true),
        ("#1 SMP PREEMPT_DYNAMIC Debian 6.1.148-1 (2025-08-26)", false), ("#1 SMP PREEMPT Tue Aug 26", false),
        ("", false),
    ])
    func `a real-time kernel is recognized by its version`(version: String, expected: Bool) {
        #expect(RunningKernel.isRealTime(version: version) == expected)
    }
}
