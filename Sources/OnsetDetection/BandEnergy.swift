/// Detects the beginning of a sound by its energy in short blocks of samples.
///
/// A sound begins where a block has much more energy than all blocks shortly before. Those blocks also contain any
/// noise, hum and ends of earlier sounds, so no threshold has to be set for them.
struct BandEnergy: Sendable {
    private var energies = [Double](repeating: 0, count: length)
    private var blocks = 0
    private var sum = 0.0

    /// Number of earlier blocks that are kept, which is 24 ms.
    ///
    /// That covers a period of hum, or half a period of a drum.
    private static let length = 48
    /// Age of the newest block that a new block is compared with; the block just before has age 1.
    ///
    /// Newer blocks are left out, because a drum takes some blocks to rise.
    private static let rise = 5
    /// A sound begins in a block whose energy is more than this many times that of any earlier block: 9 dB more.
    private static let ratio = 8.0
    /// A block with less energy than this is silence; it corresponds to a magnitude of about 0.0003.
    private static let silence = 1e-7

    /// Adds one sample from the band's filter.
    mutating func add(_ value: Double) { sum += value * value }

    /// Ends a block.
    ///
    /// - Parameter count: the number of its samples.
    /// - Returns: whether a sound begins in this block.
    mutating func endBlock(of count: Int) -> Bool {
        let energy = sum / Double(count)
        sum = 0
        defer {
            energies[blocks % Self.length] = energy
            blocks += 1
        }
        guard energy > Self.silence, blocks >= Self.length else { return false }
        var loudest = 0.0
        for age in Self.rise..<Self.length {
            loudest = max(loudest, energies[(blocks - age) % Self.length])
        }
        return energy > Self.ratio * loudest
    }
}
