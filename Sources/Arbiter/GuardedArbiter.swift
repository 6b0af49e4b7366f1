package import LoopGuard
package import MIDIClock

// The results of the arbiter's loop guard.
extension Arbiter {
    /// The loop guard's current probe and its outputs, one bit a slot; nil most of the time.
    package var probing: (slots: UInt64, probe: Probe)? { isLinkLeading ? nil : loopGuard.probing }

    /// The sources that are known to be our own clock, by name, and why.
    package var loops: [(source: ClockSource, name: String, reason: LoopReason)] {
        tracked.all.map(\.source).compactMap { source in
            let verdict = loopGuard.verdict(of: source)
            guard case .excluded(let reason) = verdict, reason != .gateway else { return nil }
            return (source, name(of: source), reason)
        }
    }

    /// Names of sources that may be our own clock and are being tested.
    package var likelyLoops: [String] { loopGuard.likelyLoops.map(name(of:)) }
}
