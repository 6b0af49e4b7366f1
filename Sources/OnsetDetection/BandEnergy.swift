/// Energy of a sound in short blocks, and how it was in the blocks before.
///
/// A sound begins where a block has much more energy than any of those that came a little earlier. Noise, hum and the
/// tails of earlier sounds are in those, too, so nothing has to be known about them.
struct BandEnergy: Sendable {
    private var energies = [Double](repeating: 0, count: length)
    private var blocks = 0
    private var sum = 0.0

    /// A new block is compared with those of the 24 ms before: a wave of hum, or half a wave of a drum.
    private static let length = 48
    /// The newest of them are left out, 2.5 ms, since a drum's rise takes some blocks itself.
    private static let rise = 5
    /// A beginning has so many times the energy, 9 dB.
    private static let ratio = 8.0
    /// Below this energy of a block is silence: a magnitude of about 0.0003.
    private static let silence = 1e-7

    /// Takes in the output of the band's filter.
    mutating func add(_ value: Double) { sum += value * value }

    /// Ends a block.
    ///
    /// - Parameter count: how many samples it has.
    /// - Returns: whether a sound begins here.
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
