/// The modules of a QR code while it is made.
struct ModuleGrid: Hashable, Sendable {
    let size: Int
    private let version: Int
    private var dark: [Bool]
    /// Whether a module belongs to a pattern, and so takes neither data nor mask.
    private var isPattern: [Bool]

    /// The fixed patterns and the version of a code; the format's modules are reserved until a mask is chosen.
    init(_ layout: Layout) {
        (size, version) = (layout.size, layout.version)
        dark = Array(repeating: false, count: size * size)
        isPattern = dark
        for place in 0..<size {
            set(6, place, place % 2 == 0)
            set(place, 6, place % 2 == 0)
        }
        for (x, y) in [(3, 3), (size - 4, 3), (3, size - 4)] { addFinder(x, y) }
        let ends = [layout.alignment.first, layout.alignment.last]
        for x in layout.alignment {
            for y in layout.alignment {
                let isFinder = ends.contains(x) && ends.contains(y) && (x, y) != (ends[1], ends[1])
                if !isFinder { addAlignment(x, y) }
            }
        }
        addFormat(0)
        addVersion()
    }

    subscript(x: Int, y: Int) -> Bool { dark[y * size + x] }

    private mutating func set(_ x: Int, _ y: Int, _ isDark: Bool) {
        dark[y * size + x] = isDark
        isPattern[y * size + x] = true
    }

    /// A finder pattern with the light line around it, as far as it is inside.
    private mutating func addFinder(_ centerX: Int, _ centerY: Int) {
        for y in max(0, centerY - 4)...min(size - 1, centerY + 4) {
            for x in max(0, centerX - 4)...min(size - 1, centerX + 4) {
                let distance = max(abs(x - centerX), abs(y - centerY))
                set(x, y, distance != 2 && distance != 4)
            }
        }
    }

    private mutating func addAlignment(_ centerX: Int, _ centerY: Int) {
        for y in centerY - 2...centerY + 2 {
            for x in centerX - 2...centerX + 2 { set(x, y, max(abs(x - centerX), abs(y - centerY)) != 1) }
        }
    }

    /// Two copies of the 15 bits that tell correction and mask, and the module that is always dark.
    private mutating func addFormat(_ bits: Int) {
        for bit in 0..<15 {
            let isDark = bits >> bit & 1 == 1
            switch bit {
            case 0...5: set(8, bit, isDark)
            case 6: set(8, 7, isDark)
            case 7: set(8, 8, isDark)
            case 8: set(7, 8, isDark)
            default: set(14 - bit, 8, isDark)
            }
            if bit < 8 { set(size - 1 - bit, 8, isDark) } else { set(8, size - 15 + bit, isDark) }
        }
        set(8, size - 8, true)
    }

    /// Two copies of the 18 bits that tell the version, from version 7 on.
    private mutating func addVersion() {
        guard version >= 7 else { return }
        let bits = version << 12 | Self.remainder(version << 12, by: 0x1F25)
        for bit in 0..<18 {
            let (along, across) = (bit / 3, size - 11 + bit % 3)
            set(along, across, bits >> bit & 1 == 1)
            set(across, along, bits >> bit & 1 == 1)
        }
    }

    /// The remainder of a division of polynomials with coefficients 0 and 1.
    private static func remainder(_ dividend: Int, by divisor: Int) -> Int {
        let length = Int.bitWidth - divisor.leadingZeroBitCount
        var rest = dividend
        while Int.bitWidth - rest.leadingZeroBitCount >= length {
            rest ^= divisor << (divisor.leadingZeroBitCount - rest.leadingZeroBitCount)
        }
        return rest
    }

    /// Places codewords in columns of two modules, from the right, up and down in turn.
    mutating func place(_ codewords: [UInt8]) {
        var bit = 0
        for (turn, right) in [Array(stride(from: size - 1, to: 6, by: -2)), [5, 3, 1]].joined().enumerated() {
            for step in 0..<size {
                let y = turn % 2 == 0 ? size - 1 - step : step
                for x in [right, right - 1] where !isPattern[y * size + x] && bit < 8 * codewords.count {
                    dark[y * size + x] = codewords[bit / 8] >> (7 - UInt8(bit % 8)) & 1 == 1
                    bit += 1
                }
            }
        }
    }

    /// This grid with a mask applied, and the format that tells it.
    func masked(_ mask: Int, _ correction: QRCode.Correction) -> ModuleGrid {
        var grid = self
        for y in 0..<size {
            for x in 0..<size where !isPattern[y * size + x] && Self.isFlipped(mask, x, y) {
                grid.dark[y * size + x].toggle()
            }
        }
        let data = (correction == .low ? 1 : 0) << 3 | mask
        grid.addFormat((data << 10 | Self.remainder(data << 10, by: 0x537)) ^ 0x5412)
        return grid
    }

    private static func isFlipped(_ mask: Int, _ x: Int, _ y: Int) -> Bool {
        switch mask {
        case 0: (x + y) % 2 == 0
        case 1: y % 2 == 0
        case 2: x % 3 == 0
        case 3: (x + y) % 3 == 0
        case 4: (x / 3 + y / 2) % 2 == 0
        case 5: x * y % 2 + x * y % 3 == 0
        case 6: (x * y % 2 + x * y % 3) % 2 == 0
        default: ((x + y) % 2 + x * y % 3) % 2 == 0
        }
    }

    /// How hard the code is to read; lower is better.
    var penalty: Int {
        let rows = (0..<size).map { y in (0..<size).map { self[$0, y] } }
        let columns = (0..<size).map { x in (0..<size).map { self[x, $0] } }
        let lines = (rows + columns).map { Self.runPenalty($0) + Self.finderPenalty($0) }.reduce(0, +)
        var blocks = 0
        for y in 0..<size - 1 {
            for x in 0..<size - 1
            where self[x, y] == self[x + 1, y] && self[x, y] == self[x, y + 1] && self[x, y] == self[x + 1, y + 1] {
                blocks += 3
            }
        }
        // 10 for each whole 5 % that the share of dark modules is away from one half.
        let share = dark.count { $0 } * 20 - dark.count * 10
        return lines + blocks + abs(share) / dark.count * 10
    }

    /// Penalty for five or more equal modules in a row.
    private static func runPenalty(_ line: [Bool]) -> Int {
        var (penalty, run) = (0, 1)
        for place in 1...line.count {
            if place < line.count, line[place] == line[place - 1] {
                run += 1
            } else {
                if run >= 5 { penalty += run - 2 }
                run = 1
            }
        }
        return penalty
    }

    /// Penalty for what looks like the middle of a finder pattern, with four light modules on a side.
    private static func finderPenalty(_ line: [Bool]) -> Int {
        let finder = [true, false, true, true, true, false, true]
        let light = [false, false, false, false]
        let patterns = [finder + light, light + finder]
        return (0...line.count - 11).map { place in
            patterns.contains(Array(line[place..<place + 11])) ? 40 : 0
        }.reduce(0, +)
    }
}
