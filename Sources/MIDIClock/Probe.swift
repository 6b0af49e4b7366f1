/// A small displacement of an output's pulses that only somebody who hears this output can know.
///
/// It is the loop guard's question, and what makes a clock that comes back tell how long it was on its way.
///
/// From ``startTick`` to ``endTick``, every block of ticks leaves a little early or a little late, as a coin decides that is tossed
/// anew for each block. The coin is a hash of ``seed``, so whoever knows the probe knows every toss.
@frozen
public struct Probe: Hashable, Sendable, BitwiseCopyable {
    /// The first tick that is displaced.
    public var startTick: Int64
    /// The first that no longer is.
    public var endTick: Int64
    /// Ticks that share one toss, at least 1.
    public var blockLength: Int64
    /// Decides the tosses.
    public var seed: UInt64

    public init(startTick: Int64, endTick: Int64 = .max, blockLength: Int64, seed: UInt64) {
        self.startTick = startTick
        self.endTick = endTick
        self.blockLength = blockLength
        self.seed = seed
    }

    /// Displaces nothing.
    public static let none = Probe(startTick: .max, blockLength: 1, seed: 0)

    /// By how much pulses are displaced where that is possible, in microseconds: 1 % of a tick, rounded down.
    public static func amplitude(_ line: TickLine) -> Int64 { line.tickLength / 100 }

    /// Whether a tick's pulses leave late (1) or early (-1); 0 if it is not displaced.
    public func sign(ofTick tick: Int64) -> Int64 {
        guard tick >= startTick, tick < endTick else { return 0 }
        // SplitMix64's finalizer: every bit of the block's number counts in the one taken.
        var word = seed &+ UInt64(bitPattern: (tick &- startTick) / max(1, blockLength)) &* 0x9E37_79B9_7F4A_7C15
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word >> 63 == 1 ? 1 : -1
    }
}
