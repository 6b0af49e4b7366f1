/// A look at this machine: what it allows, and what is in the way.
package enum Examination {
    /// Looks at everything, which takes about two seconds; nothing is changed, and nothing leaves this machine.
    ///
    /// - Returns: at least one finding for each thing that applies to this machine, in the order to mend them.
    package static func findings() -> [Finding] { MachineFacts.read(SystemTree(root: "/")).findings }
}
