import Foundation
import HostileInput
import Testing

/// Replays what the fuzzer has found worth keeping (`make link-fuzz`, `make fuzz`).
@Suite
struct HostileInputTests {
    @Test(arguments: HostileInput.allCases)
    func `no input of the corpus traps its reader or breaks a promise`(reader: HostileInput) throws {
        let inputs = try Corpus.inputs(of: reader)
        #expect(inputs.count > 20)
        for input in inputs { #expect(reader.brokenPromise(input) == nil) }
    }
}

/// The inputs in `Corpus`, each a line of hexadecimal digits.
enum Corpus {
    static func inputs(of reader: HostileInput) throws -> [[UInt8]] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus/\(reader.rawValue).txt")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
            let digits = Array(line.utf8)
            return stride(from: 0, to: digits.count - 1, by: 2).map { index in
                UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) ?? 0
            }
        }
    }
}
