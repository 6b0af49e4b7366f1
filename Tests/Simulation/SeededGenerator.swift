/// Random numbers determined by a seed (SplitMix64).
///
/// Every part of a simulated world gets its own stream, split off by name. Another draw in one place then changes no
/// others.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private let seed: UInt64
    private var state: UInt64

    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// A generator that depends on this one's seed and a name, not on earlier draws.
    package func split(_ name: String) -> SeededGenerator {
        var digest = Digest()
        digest.combine(seed)
        digest.combine(name.utf8)
        return SeededGenerator(seed: digest.value)
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// True with a probability.
    package mutating func chance(_ probability: Double) -> Bool {
        probability > 0 && Double.random(in: 0..<1, using: &self) < probability
    }
}

/// A hash of everything added, in order: equal runs have equal digests.
package struct Digest: Hashable, Sendable {
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    package mutating func combine(_ word: UInt64) {
        // FNV-1a's step on whole words, with the high half folded down so that every bit counts.
        value = (value ^ word) &* 0x0000_0100_0000_01b3
        value ^= value >> 32
    }

    package mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { combine(UInt64(byte)) }
    }
}
