internal import Foundation

/// The seeds for simulations.
package enum Seeds {
    /// A fixed list, unless the environment's `SIM_SEED` names one to replay, or a range such as `100...999` to
    /// explore.
    package static func standing(_ fixed: ClosedRange<UInt64>) -> [UInt64] {
        guard let named = ProcessInfo.processInfo.environment["SIM_SEED"] else { return Array(fixed) }
        let bounds = named.split(separator: ".").compactMap { UInt64($0) }
        guard let first = bounds.first, let last = bounds.last, first <= last else { return Array(fixed) }
        return Array(first...last)
    }
}
