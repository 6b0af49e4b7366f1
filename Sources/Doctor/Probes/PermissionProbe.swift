internal import Essentials
internal import RealTime

extension PermissionFacts {
    /// Reads what this user is allowed, but for real-time priority, which ``WakeUpProbe`` tries.
    static func read(_ tree: SystemTree) -> PermissionFacts {
        var facts = PermissionFacts()
        facts.user = User(
            status: tree.text("proc/self/status") ?? "", passwords: tree.text("etc/passwd") ?? "",
            groups: tree.text("etc/group") ?? "", caller: environment("SUDO_USER"))
        facts.limits = Limits(tree.text("proc/self/limits") ?? "")
        let files = tree.names("etc/security/limits.d").filter { $0.hasSuffix(".conf") }
        facts.grants = (["limits.conf"] + files.map { "limits.d/\($0)" }).flatMap {
            LimitGrant.list(tree.text("etc/security/\($0)") ?? "")
        }
        facts.isContainer = tree.isContainer
        facts.isMemoryLockGranted = locksMemory()
        return facts
    }

    private static func locksMemory() -> Bool {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: lockedMemory, alignment: 4096)
        defer { memory.deallocate() }
        // What stays locked ends with this process.
        return LockedMemory.lock(memory, byteCount: lockedMemory)
    }
}
