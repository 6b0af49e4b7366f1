internal import Essentials

extension MachineFacts {
    /// Reads all facts independently: what cannot be read stays unknown.
    ///
    /// - Parameter tree: the system's files.
    /// - Returns: the facts, after about two seconds, or up to seven if rtkit answers late.
    static func read(_ tree: SystemTree) -> MachineFacts {
        var facts = MachineFacts()
        facts.sequencer = SequencerFacts.read(tree)
        facts.service = ServiceFacts.read(tree)
        facts.kernel = KernelFacts.read(tree)
        // It measures on its own thread while the next line listens to the networks.
        let probe = WakeUpProbe(priority: Int32(PermissionFacts.priority))
        facts.network = NetworkFacts.read(tree)
        facts.kernel.wakeUps = probe?.finish() ?? KernelFacts.WakeUps()
        facts.permissions = PermissionFacts.read(tree)
        facts.permissions.realTime = probe?.right
        return facts
    }
}
