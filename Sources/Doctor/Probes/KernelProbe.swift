internal import Essentials
internal import RealTime

extension KernelFacts {
    static func read(_ tree: SystemTree) -> KernelFacts {
        var facts = KernelFacts()
        let version = tree.line("proc/sys/kernel/version") ?? ""
        let release = tree.line("proc/sys/kernel/osrelease") ?? ""
        facts.preemption =
            RunningKernel.isRealTime
            ? .realTime
            : Preemption(
                version: version, choices: tree.line("sys/kernel/debug/sched/preempt"),
                commandLine: tree.line("proc/cmdline") ?? "", configuration: tree.text("boot/config-\(release)"))
        facts.isPreemptionChoosable = version.contains("PREEMPT_DYNAMIC")
        facts.hasGRUB = tree.exists("etc/default/grub")
        facts.governors = governors(tree)
        return facts
    }

    private static func governors(_ tree: SystemTree) -> [Int: String] {
        var governors: [Int: String] = [:]
        let folder = "sys/devices/system/cpu"
        for name in tree.names(folder) where name.hasPrefix("cpu") {
            guard let number = Int(name.dropFirst("cpu".count)) else { continue }
            governors[number] = tree.line("\(folder)/\(name)/cpufreq/scaling_governor")
        }
        return governors
    }
}
