/// The ID of a Link peer, and of the session that it founded: eight opaque bytes.
///
/// The order is that of the unsigned bytes; it decides between sessions of the same age.
///
/// ```swift
/// assert(NodeID(bits: 0xABC).description == "0000000000000abc")
/// assert(NodeID(bits: 1) < NodeID(bits: 2))
/// ```
public struct NodeID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The eight bytes; the first one on the wire is the most significant.
    public var bits: UInt64

    public init(bits: UInt64) { self.bits = bits }

    public static func < (left: NodeID, right: NodeID) -> Bool { left.bits < right.bits }

    /// Sixteen hexadecimal digits.
    public var description: String {
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// A generator of node IDs; the seed determines all of them.
struct NodeIDGenerator: Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// An ID of eight printable characters, like those of other peers.
    mutating func next() -> NodeID {
        var bits: UInt64 = 0
        for _ in 0..<8 { bits = bits << 8 | (33 + nextWord().multipliedFullWidth(by: 94).high) }
        return NodeID(bits: bits)
    }

    /// SplitMix64: every seed, including zero, gives a full sequence.
    private mutating func nextWord() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
