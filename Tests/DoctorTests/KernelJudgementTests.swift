import Testing

@testable import Doctor

@Suite
struct KernelJudgementTests {
    private func findings(_ facts: KernelFacts, hasFineQueue: Bool = true) -> [Finding.Code: Finding] {
        let findings = facts.findings(hasFineQueue: hasFineQueue, "the way to real-time priority")
        return Dictionary(uniqueKeysWithValues: findings.map { ($0.code, $0) })
    }

    @Test(arguments: [Preemption.full, .lazy, .realTime])
    func `a kernel with nearly full preemption is fine without a queue`(preemption: Preemption) {
        let finding = findings(KernelFacts(preemption: preemption), hasFineQueue: false)[.preemption]
        #expect(finding == .ok(.preemption, "\(known: preemption.rawValue)"))
    }

    @Test(arguments: [Preemption.none, .voluntary])
    func `other kernels are fine if the queue covers late threads`(preemption: Preemption) {
        let finding = findings(KernelFacts(preemption: preemption))[.preemption]
        #expect(finding?.level == .ok)
        #expect(finding?.found.hasPrefix("\(preemption.rawValue); ") == true)
    }

    @Test(arguments: [
        (true, true, "update-grub # then restart"), (true, false, "add preempt=full to the kernel's command line"),
        (false, true, "sudo apt install linux-image-rt-$(dpkg --print-architecture)"),
    ])
    func `without a queue the fix is a boot option or another kernel`(isChoosable: Bool, hasGRUB: Bool, fix: String) {
        let facts = KernelFacts(preemption: .voluntary, isPreemptionChoosable: isChoosable, hasGRUB: hasGRUB)
        let finding = findings(facts, hasFineQueue: false)[.preemption]
        #expect(finding?.level == .warning)
        #expect(finding?.fix?.contains(fix) == true)
    }

    @Test
    func `unknown preemption is a warning`() {
        #expect(findings(KernelFacts())[.preemption]?.level == .warning)
    }

    @Test
    func `power-saving governors are named with their processors`() {
        let facts = KernelFacts(governors: [0: "schedutil", 1: "performance", 3: "schedutil", 2: "powersave"])
        let finding = findings(facts)[.governor]
        #expect(finding?.level == .warning)
        #expect(finding?.found == "powersave on processors 2; schedutil on processors 0, 3")
        #expect(
            finding?.fix?.hasPrefix("echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
                == true)
    }

    @Test(arguments: [[:], [0: "performance", 1: "performance"]])
    func `full speed, or none to choose, is fine`(governors: [Int: String]) {
        #expect(findings(KernelFacts(governors: governors))[.governor]?.level == .ok)
    }

    private static let late = KernelFacts.WakeUps(count: 300, median: 60, most: 251, maximum: 4000)

    @Test
    func `wake-ups that Tactus can compensate are fine, whatever the worst was`() {
        var facts = KernelFacts(wakeUps: Self.late)
        facts.wakeUps.most = 250
        let finding = findings(facts)[.wakeUp]
        #expect(finding?.level == .ok)
        #expect(
            finding?.found
                == "a real-time thread woke 300 times: half at most 60 us late, 99 % at most 250 us, "
                + "all at most 4000 us")
    }

    @Test
    func `the fix for late wake-ups depends on their cause`() {
        var facts = KernelFacts(preemption: .voluntary, isPreemptionChoosable: true, wakeUps: Self.late)
        facts.governors = [0: "powersave"]
        facts.wakeUps.isRealTime = false
        #expect(findings(facts)[.wakeUp]?.level == .warning)
        #expect(findings(facts)[.wakeUp]?.fix == "the way to real-time priority")
        facts.wakeUps.isRealTime = true
        #expect(findings(facts)[.wakeUp]?.fix?.contains("preempt=full") == true)
        facts.preemption = .full
        #expect(findings(facts)[.wakeUp]?.fix?.contains("scaling_governor") == true)
        facts.governors = [:]
        #expect(findings(facts)[.wakeUp]?.fix?.contains("keep the computer busy") == true)
    }

    @Test
    func `a missing measurement is a warning`() {
        #expect(findings(KernelFacts())[.wakeUp]?.level == .warning)
    }
}

@Suite
struct PreemptionTests {
    private static let dynamic = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.148-1 (2025-08-26)"
    private static let voluntary = "CONFIG_PREEMPT_VOLUNTARY=y\n# CONFIG_PREEMPT is not set\nCONFIG_PREEMPT_DYNAMIC=y"

    @Test(arguments: [
        ("none (voluntary) full", Preemption.voluntary), ("none voluntary (full)", .full), ("full (lazy)", .lazy),
        ("(none) voluntary full", Preemption.none),
    ])
    func `the kernel's present setting counts first`(choices: String, expected: Preemption) {
        let found = Preemption(
            version: Self.dynamic, choices: choices, commandLine: "preempt=none", configuration: "CONFIG_PREEMPT=y")
        #expect(found == expected)
    }

    @Test
    func `the kernel's command line counts second, with the last of several words`() {
        let found = Preemption(
            version: Self.dynamic, choices: nil, commandLine: "quiet preempt=none preempt=full\n",
            configuration: Self.voluntary)
        #expect(found == .full)
    }

    @Test
    func `the kernel's build configuration counts third`() {
        let found = Preemption(
            version: Self.dynamic, choices: nil, commandLine: "preempt=maybe", configuration: Self.voluntary)
        #expect(found == .voluntary)
        #expect(Preemption(version: Self.dynamic, choices: "", commandLine: "", configuration: nil) == nil)
    }

    @Test
    func `a kernel without a choice is recognized by its version`() {
        func told(_ version: String, _ configuration: String?) -> Preemption? {
            Preemption(version: version, choices: nil, commandLine: "preempt=full", configuration: configuration)
        }
        #expect(told("#1 SMP PREEMPT_RT Debian", nil) == .realTime)
        #expect(told("#1 SMP PREEMPT Tue", nil) == .full)
        #expect(told("#1 SMP Tue", "CONFIG_PREEMPT_NONE=y") == Preemption.none)
        #expect(told("#1 SMP Tue", nil) == nil)
    }
}
