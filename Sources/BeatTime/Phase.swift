/// Positions in a cycle of beats, the quantum; a quantum of zero means no cycle.
extension Beats {
    /// The position inside the quantum, in `0..<quantum`, for negative beats too.
    @inlinable
    public func phase(quantum: Beats) -> Beats {
        guard quantum.microbeats > 0 else { return .zero }
        let remainder = microbeats % quantum.microbeats
        return Beats(microbeats: remainder < 0 ? remainder + quantum.microbeats : remainder)
    }

    /// The smallest position at or after this one with the phase of `target`.
    @inlinable
    public func nextMatch(phaseOf target: Beats, quantum: Beats) -> Beats {
        guard quantum.microbeats > 0 else { return self }
        let ahead = target.phase(quantum: quantum) - phase(quantum: quantum) + quantum
        return self + Beats(microbeats: ahead.microbeats % quantum.microbeats)
    }

    /// The nearest position with the phase of `target`; the lower one if two are equally near.
    @inlinable
    public func closestMatch(phaseOf target: Beats, quantum: Beats) -> Beats {
        (self - Beats(0.5 * quantum.value)).nextMatch(phaseOf: target, quantum: quantum)
    }
}
