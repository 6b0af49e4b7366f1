/// The name of a Link peer, and of the session that it founded: eight opaque bytes.
///
/// The order is that of the bytes, unsigned; it decides between sessions of the same age.
public struct NodeID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The eight bytes, the first on the wire being the most significant.
    public var bits: UInt64

    public init(bits: UInt64) { self.bits = bits }

    public static func < (left: NodeID, right: NodeID) -> Bool { left.bits < right.bits }

    /// Sixteen hexadecimal digits.
    public var description: String {
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// A small generator of node IDs: a value, so that a seed tells every ID that an engine will ever draw.
struct NodeIDGenerator: Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// An ID of eight printable characters, as other peers draw them.
    mutating func next() -> NodeID {
        var bits: UInt64 = 0
        for _ in 0..<8 { bits = bits << 8 | (33 + nextWord().multipliedFullWidth(by: 94).high) }
        return NodeID(bits: bits)
    }

    /// SplitMix64: every seed, zero too, gives a full sequence.
    private mutating func nextWord() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
