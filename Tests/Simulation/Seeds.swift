internal import Foundation

/// The seeds for simulations.
package enum Seeds {
    /// A fixed list, unless the environment's `SIM_SEED` names one to replay, or a range such as `100...999` to
    /// explore.
    ///
    /// - Parameters:
    ///   - fixed: the first seeds of the list.
    ///   - others: further seeds, which have shown what the first do not.
    /// - Returns: the seeds to run.
    package static func standing(_ fixed: ClosedRange<UInt64>, and others: [UInt64] = []) -> [UInt64] {
        let standing = Array(fixed) + others
        guard let named = ProcessInfo.processInfo.environment["SIM_SEED"] else { return standing }
        let bounds = named.split(separator: ".").compactMap { UInt64($0) }
        guard let first = bounds.first, let last = bounds.last, first <= last else { return standing }
        return Array(first...last)
    }
}
