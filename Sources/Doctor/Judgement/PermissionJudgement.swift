extension PermissionFacts {
    func findings(opensSequencer: Bool) -> [Finding] {
        [realTimeFinding, memoryFinding, groupFinding(opensSequencer: opensSequencer)].compactMap(\.self)
    }

    /// The output thread's priority without `--realtime-priority`.
    static let priority = 80
    /// Bytes that the output thread needs.
    static let lockedMemory = 1 << 20

    private var realTimeFinding: Finding? {
        let limit: FindingText = limits.realTimePriority.map { "the limit is \($0)" } ?? "although there is no limit"
        switch realTime {
        case nil: return nil
        case .byLimits:
            let giver: FindingText = user.isRoot ? ", as always to root" : " by limits"
            let caller: FindingText = user.caller.map { "; to check the rights of \($0), run it without sudo" } ?? ""
            return .ok(.realTime, "priority \(Self.priority) is granted\(giver)\(caller)")
        case .byRealTimeKit(let priority):
            return .ok(
                .realTime,
                "priority \(priority) is granted by rtkit (\(Self.priority) is refused: \(limit); if you need more: "
                    + "\(known: realTimeFix))")
        case .refused(let reason):
            return .warning(
                .realTime, "priority \(Self.priority) is refused (\(limit)), and \(reason)", fix: realTimeFix)
        }
    }

    /// How to get real-time priority.
    var realTimeFix: String { fix(for: "rtprio", worth: 95, atLeast: Self.priority, docker: "rtprio=95") }

    private var memoryFinding: Finding {
        let limit: FindingText = limits.lockedMemory.map { "the limit is \($0 / 1024) KiB" } ?? "there is no limit"
        guard !isMemoryLockGranted else { return .ok(.lockedMemory, "a megabyte of memory can be locked (\(limit))") }
        return .warning(
            .lockedMemory, "a megabyte of memory cannot be locked (\(limit)), which many outputs may need",
            fix: fix(for: "memlock", worth: 65536, atLeast: Self.lockedMemory / 1024, docker: "memlock=67108864"))
    }

    private func fix(for item: String, worth value: Int, atLeast least: Int, docker: String) -> String {
        if user.isRoot || isContainer {
            return "this is a container: start it with --cap-add SYS_NICE --cap-add IPC_LOCK --ulimit \(docker)"
        }
        let granted = grants.filter { $0.item == item && ($0.value ?? .max) >= least }.map(\.domain)
        let isIn = user.isInAudio || user.isListedInAudio
        if granted.contains(user.name) || granted.contains("*") || (granted.contains("@audio") && isIn) {
            return "it is granted from the next login: log out and in again"
        }
        if granted.contains("@audio") { return joinFix }
        let grant = "echo '@audio - \(item) \(value)' | sudo tee -a /etc/security/limits.d/tactus.conf"
        return isIn ? "\(grant) # then log out and in again" : "\(grant) && \(joinFix)"
    }

    private var joinFix: String {
        let newGroup = user.hasAudioGroup ? "" : "sudo groupadd --system audio && "
        return "\(newGroup)sudo usermod -aG audio $USER # then log out and in again"
    }

    private func groupFinding(opensSequencer: Bool) -> Finding {
        if user.isRoot { return .ok(.audioGroup, "root needs no group") }
        let name: FindingText = user.name.isEmpty ? "this user" : "\(user.name)"
        if user.isInAudio { return .ok(.audioGroup, "\(name) is in the group audio") }
        if user.isListedInAudio {
            return .warning(
                .audioGroup, "\(name) is in the group audio from the next login", fix: "log out and in again")
        }
        if opensSequencer, realTime?.isGranted == true, isMemoryLockGranted {
            return .ok(.audioGroup, "not in the group audio, and it is not needed here")
        }
        return .warning(.audioGroup, "not in the group audio", fix: joinFix)
    }
}
