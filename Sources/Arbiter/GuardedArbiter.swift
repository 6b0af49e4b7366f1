public import BeatTime
public import MIDIClock

// What the arbiter's loop guard is told, and what it has to say.
extension Arbiter {
    /// What the loop guard asks the outputs, and which, one bit a slot; nil most of the time.
    public var probing: (outputs: UInt64, probe: Probe)? { isLinkLeading ? nil : loopGuard.probing }

    /// Says how our clock may come to the sources there are.
    ///
    /// - Parameters:
    ///   - paths: as the subscriptions have it; a source that is not among them is gone.
    ///   - offsets: the earliest and the latest that the outputs' offsets make their ticks leave, in microseconds.
    ///   - now: the present host time.
    public mutating func pathsChanged(
        _ paths: [ClockSource: LoopPath], offsets: ClosedRange<Int64>, at now: HostTime
    ) {
        for master in masters.all where paths[master.source] == nil {
            loopGuard.removed(master.source)
            masters.forget(master.source)
        }
        for (source, path) in paths { loopGuard.pathChanged(of: source, to: path, at: now) }
        loopGuard.offsets = offsets
    }

    /// The sources that are known to be our own clock, by name, and why.
    public var loops: [(source: ClockSource, name: String, reason: LoopReason)] {
        masters.all.compactMap { master in
            guard case .fenced(let reason) = loopGuard.verdict(of: master.source) else { return nil }
            return (master.source, name(of: master.source), reason)
        }
    }

    /// The names of sources that may be our own clock; that is being looked into.
    public var likelyLoops: [String] { loopGuard.likelyLoops.map(name(of:)) }
}
