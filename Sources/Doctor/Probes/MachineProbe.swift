internal import Essentials

extension MachineFacts {
    /// Reads all facts independently: what cannot be read stays unknown.
    ///
    /// - Parameter tree: the system's files.
    /// - Returns: the facts, after two seconds of listening and measuring at the same time.
    static func read(_ tree: SystemTree) -> MachineFacts {
        var facts = MachineFacts()
        facts.sequencer = SequencerFacts.read(tree)
        facts.service = ServiceFacts.read(tree)
        facts.kernel = KernelFacts.read(tree)
        let latency = WakeUpProbe(priority: Int32(PermissionFacts.priority))
        facts.network = NetworkFacts.read(tree)
        facts.kernel.wakeUps = latency?.finish() ?? KernelFacts.WakeUps(isRealTime: false)
        facts.permissions = PermissionFacts.read(tree)
        facts.permissions.isRealTimeGranted = facts.kernel.wakeUps.isRealTime
        return facts
    }
}
