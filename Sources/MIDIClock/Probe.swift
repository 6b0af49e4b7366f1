/// A small displacement of an output's pulses, known only to those who hear this output.
///
/// The loop guard uses it to recognize our own clock, and ``LoopBack`` to measure how long a clock takes to come back.
///
/// From ``startTick`` to ``endTick``, each block of ticks is sent slightly early or slightly late, by the toss of a
/// coin. The coin is a hash of ``seed``, so the probe determines every toss.
///
/// ```swift
/// let probe = Probe(startTick: 10, endTick: 20, blockLength: 2, seed: 7)
/// assert(probe.sign(ofTick: 9) == 0)
/// assert(probe.sign(ofTick: 10) == probe.sign(ofTick: 11))
/// ```
@frozen
public struct Probe: Hashable, Sendable, BitwiseCopyable {
    /// The first tick that is displaced.
    public var startTick: Int64
    /// The first tick that is not displaced any more.
    public var endTick: Int64
    /// Ticks per toss, at least 1.
    public var blockLength: Int64
    /// Determines the tosses.
    public var seed: UInt64

    public init(startTick: Int64, endTick: Int64 = .max, blockLength: Int64, seed: UInt64) {
        self.startTick = startTick
        self.endTick = endTick
        self.blockLength = blockLength
        self.seed = seed
    }

    /// A probe that displaces nothing.
    public static let none = Probe(startTick: .max, blockLength: 1, seed: 0)

    /// Displacement of pulses in microseconds, where possible: 1 % of a tick, rounded down.
    public static func amplitude(_ line: TickLine) -> Int64 { line.tickLength / 100 }

    /// Whether a tick's pulses are sent late (1) or early (-1); 0 if they are not displaced.
    public func sign(ofTick tick: Int64) -> Int64 {
        guard tick >= startTick, tick < endTick else { return 0 }
        // SplitMix64's finalizer: all bits of the block's number affect the one used.
        var word = seed &+ UInt64(bitPattern: (tick &- startTick) / max(1, blockLength)) &* 0x9E37_79B9_7F4A_7C15
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word >> 63 == 1 ? 1 : -1
    }
}
