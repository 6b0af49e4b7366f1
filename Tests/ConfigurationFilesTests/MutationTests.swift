import ConfigurationFiles
import Glibc
import HostileInput
import Simulation
import Testing

/// Valid files with random changes: none may crash the program or be reported at an impossible position.
@Suite struct MutationTests {
    /// Number of files: from the environment's `FUZZ_FILES`, or as many as take a few seconds.
    private static let count = getenv("FUZZ_FILES").flatMap { Int(String(cString: $0)) } ?? 20_000

    @Test func `mistakes are always inside the file`() {
        let bases = (GoodFiles.profiles + GoodFiles.configurations).map { Array($0.utf8) }
        var random = SeededGenerator(seed: 20_261_121)
        var broken = 0
        for number in 0..<Self.count {
            let base = number % bases.count
            let bytes = Mutation.changed(bases[base], &random)
            do throws(Mistakes) {
                if base < GoodFiles.profiles.count {
                    _ = try Profile(yaml: bytes, file: "f")
                } else {
                    _ = try ConfigurationFile(yaml: bytes, file: "f")
                }
            } catch {
                broken += 1
                #expect(!error.all.isEmpty)
                let wrong = HostileInput.misreported(error, of: bytes)
                #expect(wrong == nil, "in \(String(decoding: bytes, as: UTF8.self))")
            }
        }
        // Changes must break some files but not all, to reach what they should.
        #expect((Self.count / 2..<Self.count).contains(broken), "\(broken) of \(Self.count) are wrong")
    }
}

private enum Mutation {
    /// Texts with a meaning to YAML or to the schema.
    private static let pieces = [
        ":", ": ", "- ", "? ", "[", "]", "{", "}", ", ", "#", " #", "&a ", "*a", "!", "!!str ", "|", ">", "|\n", "'",
        "\"",
        "%", "@", "`", "\t", "\n", "\r", "\r\n", "  ", "\\", "\\x41", "\\ud800", "---\n", "...\n", "<<: ", "~", "null",
        "true", "yes", "1e9", "0x10", "-", ".", "99999999999999999999", "-0.0005", "\u{0}", "\u{FEFF}", "é", "🥁",
        "\u{85}",
        "\u{2028}", "version: 1\n", "clock:\n", "offset: 1\n", "swing", "name: x\n",
    ].map { Array($0.utf8) }

    /// One to six changes: texts inserted, bytes changed or removed, lines swapped, doubled, dropped or shifted.
    static func changed(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            guard !bytes.isEmpty else { break }
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<7, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[place] = UInt8.random(in: 0x20...0x7E, using: &random)
            case 2, 3: bytes.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: place)
            case 4: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...8, using: &random)))
            case 5: bytes[place] = bytes[Int.random(in: 0..<bytes.count, using: &random)]
            default: bytes = withLinesChanged(bytes, &random)
            }
        }
        return bytes
    }

    private static func withLinesChanged(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
        let line = Int.random(in: 0..<lines.count, using: &random)
        let other = Int.random(in: 0..<lines.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: lines.swapAt(line, other)
        case 1: lines.insert(lines[line], at: other)
        case 2: lines.remove(at: line)
        case 3: lines[line].insert(contentsOf: [0x20, 0x20], at: 0)
        default: lines[line] = Array(lines[line].drop { $0 == 0x20 })
        }
        return Array(lines.joined(separator: [0x0A]))
    }
}
