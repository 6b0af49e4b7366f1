/// Detects the beginning of a sound by its energy in short blocks of samples.
///
/// A sound begins where a block has much more energy than all blocks shortly before. Noise, hum and the ends of earlier
/// sounds are also in those blocks, so they need not be known.
struct BandEnergy: Sendable {
    private var energies = [Double](repeating: 0, count: length)
    private var blocks = 0
    private var sum = 0.0

    /// Number of earlier blocks that a new block is compared with: 24 ms, a wave of hum or half a wave of a drum.
    private static let length = 48
    /// Number of the newest of these blocks that are left out: 2.5 ms, because a drum takes some blocks to rise.
    private static let rise = 5
    /// A block that begins a sound has at least this many times the energy: 9 dB more.
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
