internal import Essentials

/// An examination of this machine: what it allows, and what causes trouble.
package enum Examination {
    /// Examines everything in about two seconds; changes nothing, and sends nothing beyond this machine.
    ///
    /// - Returns: at least one finding for each relevant subject, in the order in which to fix them.
    package static func findings() -> [Finding] { MachineFacts.read(SystemTree(root: "/")).findings }
}
