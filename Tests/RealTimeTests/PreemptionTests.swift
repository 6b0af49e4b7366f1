import Testing

@testable import RealTime

@Suite
struct PreemptionTests {
    private static let dynamic = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.148-1 (2025-08-26)"

    @Test(arguments: [
        (dynamic, false, "quiet", "", Preemption.unknown),
        (dynamic, false, "quiet preempt=full", "", .full),
        (dynamic, false, "preempt=full preempt=voluntary", "", .voluntary),
        (dynamic, false, "preempt=lazy", "", .full),
        // What is in force beats what was asked for at boot.
        (dynamic, false, "preempt=full", "none (voluntary) full\n", .voluntary),
        (dynamic, false, "", "none voluntary (full)\n", .full),
        ("#1 SMP PREEMPT_RT Debian 6.1.148-1", false, "", "", .full),
        ("#1 SMP", true, "", "", .full),
        ("#1 SMP PREEMPT Tue Aug 26", false, "", "", .full),
        ("#1 SMP Tue Aug 26", false, "preempt=full", "", .voluntary),
        ("#1 SMP Tue Aug 26", false, "", ")(", .voluntary),
    ])
    func `the kernel's words tell how readily it lets a thread in`(
        version: String, isRealTime: Bool, commandLine: String, debug: String, expected: Preemption
    ) {
        let found = Preemption.of(
            version: version, isRealTimeKernel: isRealTime, commandLine: commandLine, debug: debug)
        #expect(found == expected)
    }
}
