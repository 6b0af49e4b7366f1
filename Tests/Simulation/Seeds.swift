internal import Foundation

/// The seeds that a simulation runs with.
public enum Seeds {
    /// A fixed list, or only the one that the environment names as `SIM_SEED`.
    public static func standing(_ fixed: ClosedRange<UInt64>) -> [UInt64] {
        if let named = ProcessInfo.processInfo.environment["SIM_SEED"].flatMap({ UInt64($0) }) { return [named] }
        return Array(fixed)
    }
}
