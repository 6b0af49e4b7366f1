extension MachineFacts {
    /// Reads all facts, each by itself: what cannot be read stays unknown and keeps nothing else from being read.
    ///
    /// - Parameter tree: the system's files.
    /// - Returns: after two seconds, most of which are spent listening and measuring at the same time.
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
