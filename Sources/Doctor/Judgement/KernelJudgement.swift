extension KernelFacts {
    /// Judges the facts.
    ///
    /// - Parameters:
    ///   - hasFineQueue: whether the sequencer sends when the clock's thread is held up.
    ///   - realTimeFix: how to get real-time priority.
    /// - Returns: one finding for each code.
    func findings(hasFineQueue: Bool, _ realTimeFix: String) -> [Finding] {
        [preemptionFinding(hasFineQueue), governorFinding, wakeUpFinding(realTimeFix)]
    }

    private var isHeldUp: Bool { preemption == Preemption.none || preemption == .voluntary }

    private func preemptionFinding(_ hasFineQueue: Bool) -> Finding {
        guard let preemption else {
            return .warning(
                .preemption, "the kernel does not say how it preempts programs",
                fix: "sudo cat /sys/kernel/debug/sched/preempt # or ask whoever built the kernel")
        }
        guard isHeldUp else { return .ok(.preemption, "\(known: preemption.rawValue)") }
        guard !hasFineQueue else {
            return .ok(.preemption, "\(known: preemption.rawValue); the sequencer's queue steps in where it matters")
        }
        return .warning(
            .preemption, "\(known: preemption.rawValue), and there is no sequencer queue to step in", fix: preemptionFix
        )
    }

    private var preemptionFix: String {
        guard isPreemptionChoosable else {
            return "sudo apt install linux-image-rt-$(dpkg --print-architecture) # then restart with that kernel"
        }
        guard hasGRUB else { return "add preempt=full to the kernel's command line, then restart" }
        return "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&preempt=full /' /etc/default/grub && sudo update-grub "
            + "# then restart"
    }

    private var governorFinding: Finding {
        guard !governors.isEmpty else { return .ok(.governor, "the processors' speed is not governed by this system") }
        let slow = governors.filter { $0.value != "performance" }
        guard !slow.isEmpty else { return .ok(.governor, "performance") }
        let names = Set(slow.values).sorted().map { name -> FindingText in
            let processors = slow.filter { $0.value == name }.keys.sorted().map { String($0) }
            return "\(known: name) on processors \(known: processors.joined(separator: ", "))"
        }
        return .warning(.governor, names.joined(separator: "; "), fix: Self.governorFix)
    }

    private static let governorFix =
        "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor "
        + "# repeat this after each restart"

    /// Lateness that Tactus can compensate by waking earlier, in microseconds.
    private static let tolerated: Int64 = 250

    private func wakeUpFinding(_ realTimeFix: String) -> Finding {
        guard wakeUps.count > 0 else {
            return .warning(
                .wakeUp, "no thread could be started to measure it", fix: "close some programs, then try again")
        }
        let scheduling: FindingText = wakeUps.isRealTime ? "a real-time thread" : "a thread without real-time priority"
        let found: FindingText =
            "\(scheduling) woke \(wakeUps.count) times: half at most \(wakeUps.median) us late, 99 % at most "
            + "\(wakeUps.most) us, all at most \(wakeUps.maximum) us"
        guard wakeUps.most > Self.tolerated else { return .ok(.wakeUp, found) }
        let fix =
            if !wakeUps.isRealTime {
                realTimeFix
            } else if isHeldUp {
                preemptionFix
            } else if governors.values.contains(where: { $0 != "performance" }) {
                Self.governorFix
            } else {
                "end the programs that keep the computer busy ('top -H' shows them); give a virtual machine its own "
                    + "processors"
            }
        return .warning(.wakeUp, found, fix: fix)
    }
}
