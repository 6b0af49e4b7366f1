/// The sizes of one version of QR code.
struct Layout {
    /// 1 to 10.
    let version: Int
    /// Data and correction together.
    let codewords: Int
    /// Coordinates of the alignment patterns' centres, for both axes.
    let alignment: [Int]
    /// Correction codewords in each block, and the number of blocks; ISO/IEC 18004, table 9.
    let low, medium: (perBlock: Int, blocks: Int)

    var size: Int { 17 + 4 * version }

    static let all = [
        Layout(version: 1, codewords: 26, alignment: [], low: (7, 1), medium: (10, 1)),
        Layout(version: 2, codewords: 44, alignment: [6, 18], low: (10, 1), medium: (16, 1)),
        Layout(version: 3, codewords: 70, alignment: [6, 22], low: (15, 1), medium: (26, 1)),
        Layout(version: 4, codewords: 100, alignment: [6, 26], low: (20, 1), medium: (18, 2)),
        Layout(version: 5, codewords: 134, alignment: [6, 30], low: (26, 1), medium: (24, 2)),
        Layout(version: 6, codewords: 172, alignment: [6, 34], low: (18, 2), medium: (16, 4)),
        Layout(version: 7, codewords: 196, alignment: [6, 22, 38], low: (20, 2), medium: (18, 4)),
        Layout(version: 8, codewords: 242, alignment: [6, 24, 42], low: (24, 2), medium: (22, 4)),
        Layout(version: 9, codewords: 292, alignment: [6, 26, 46], low: (30, 2), medium: (22, 5)),
        Layout(version: 10, codewords: 346, alignment: [6, 28, 50], low: (18, 4), medium: (26, 5)),
    ]

    private func blocks(_ correction: QRCode.Correction) -> (perBlock: Int, blocks: Int) {
        correction == .low ? low : medium
    }

    /// Codewords for data.
    private func room(_ correction: QRCode.Correction) -> Int {
        let blocks = blocks(correction)
        return codewords - blocks.perBlock * blocks.blocks
    }

    /// Bits of the number that says how many bytes follow.
    private var countBits: Int { version < 10 ? 8 : 16 }

    /// Most bytes that it can hold.
    func capacity(_ correction: QRCode.Correction) -> Int { (8 * room(correction) - 4 - countBits) / 8 }

    /// Mode, count, bytes, terminator and padding.
    func dataCodewords(_ bytes: [UInt8], _ correction: QRCode.Correction) -> [UInt8] {
        let room = room(correction)
        var bits = Bits()
        bits.append(0b0100, count: 4)
        bits.append(bytes.count, count: countBits)
        for byte in bytes { bits.append(Int(byte), count: 8) }
        bits.append(0, count: min(4, 8 * room - bits.count))
        bits.append(0, count: (8 - bits.count % 8) % 8)
        var padding = [0xEC, 0x11]
        while bits.count < 8 * room {
            bits.append(padding[0], count: 8)
            padding.swapAt(0, 1)
        }
        return bits.bytes
    }

    /// Splits data into blocks, adds each one's correction, and takes a codeword of each in turn.
    func interleaved(_ data: [UInt8], _ correction: QRCode.Correction) -> [UInt8] {
        let (perBlock, count) = blocks(correction)
        let (shortLength, longBlocks) = data.count.quotientAndRemainder(dividingBy: count)
        var (blocks, rest): ([[UInt8]], ArraySlice<UInt8>) = ([], data[...])
        for number in 0..<count {
            // The last blocks are one codeword longer if the data does not divide evenly.
            let length = shortLength + (number >= count - longBlocks ? 1 : 0)
            blocks.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        let code = ReedSolomon(corrections: perBlock)
        let corrections = blocks.map(code.remainder)
        return Self.inTurn(blocks) + Self.inTurn(corrections)
    }

    private static func inTurn(_ blocks: [[UInt8]]) -> [UInt8] {
        let longest = blocks.map(\.count).max() ?? 0
        return (0..<longest).flatMap { place in blocks.compactMap { $0.indices.contains(place) ? $0[place] : nil } }
    }
}

/// Collects bits, the first one highest in its byte.
private struct Bits {
    private(set) var count = 0
    private(set) var bytes: [UInt8] = []

    mutating func append(_ value: Int, count: Int) {
        for bit in (0..<count).reversed() {
            if self.count % 8 == 0 { bytes.append(0) }
            if value >> bit & 1 == 1 { bytes[self.count / 8] |= 0x80 >> UInt8(self.count % 8) }
            self.count += 1
        }
    }
}

/// Reed-Solomon codes over the field of 256 elements with the polynomial 0x11D.
struct ReedSolomon {
    /// Coefficients of the generator, highest power first, without the leading 1.
    private let generator: [UInt8]

    init(corrections: Int) {
        var generator: [UInt8] = Array(repeating: 0, count: corrections - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<corrections {
            for place in generator.indices {
                generator[place] = Self.product(generator[place], root)
                if place + 1 < generator.count { generator[place] ^= generator[place + 1] }
            }
            root = Self.product(root, 2)
        }
        self.generator = generator
    }

    /// The correction codewords of a block.
    func remainder(_ data: [UInt8]) -> [UInt8] {
        var remainder: [UInt8] = Array(repeating: 0, count: generator.count)
        for byte in data {
            let factor = byte ^ remainder.removeFirst()
            remainder.append(0)
            for place in generator.indices { remainder[place] ^= Self.product(generator[place], factor) }
        }
        return remainder
    }

    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var result = 0
        for bit in (0..<8).reversed() {
            result = result << 1 ^ (result >> 7) * 0x11D
            if right >> bit & 1 == 1 { result ^= Int(left) }
        }
        return UInt8(result)
    }
}
