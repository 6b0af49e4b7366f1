import ConfigurationFiles
import Testing

/// Files not written in an editor, and what editors do to files.
@Suite struct StrangeTextTests {
    @Test(
        arguments: [
            ([], "1:1: the file is empty; begin it with 'version: 1'"),
            (Array("\n\n".utf8), "1:1: the file is empty; begin it with 'version: 1'"),
            ([0xFF, 0xFE, 0x76, 0x00], "1:1: the file is UTF-16; save it as UTF-8"),
            ([0xFE, 0xFF, 0x00, 0x76], "1:1: the file is UTF-16; save it as UTF-8"),
            ([0x76, 0x00, 0x65, 0x00], "1:2: the character U+0000 is not allowed in these files; delete it"),
            ([0xEF, 0xBB, 0xBF], "1:1: the file is empty; begin it with 'version: 1'"),
            (Array("version: 1\nname: caf".utf8) + [0xE9, 0x0A], "2:10: this is not UTF-8; save the file as UTF-8"),
            (Array("version: 1\nname: caf".utf8) + [0xC3], "2:10: this is not UTF-8; save the file as UTF-8"),
            (Array("name: a\u{0}b".utf8), "1:8: the character U+0000 is not allowed in these files; delete it"),
            (Array("name: é\u{7}".utf8), "1:8: the character U+0007 is not allowed in these files; delete it"),
            (Array("name: a\u{2028}b".utf8), "1:8: the character U+2028 is not allowed in these files; delete it"),
            (Array("name: a\u{FEFF}".utf8), "1:8: the character U+FEFF is not allowed in these files; delete it"),
        ] as [([UInt8], String)])
    func `a file that is not text is reported as such`(bytes: [UInt8], complaint: String) {
        #expect(complaints { () throws(Mistakes) in _ = try Profile(yaml: bytes, file: "box") } == ["box:\(complaint)"])
    }

    @Test(arguments: ["\r\n", "\r", "\n"])
    func `lines may end as on any system`(ending: String) throws {
        for text in GoodFiles.profiles {
            let written = text.replacing("\n", with: ending)
            #expect(try Profile(text: written) == (Profile(text: text)))
        }
        let broken = ["version: 1", "name: Box", "clock:", "  swong: 3"].joined(separator: ending)
        #expect(
            complaints { () throws(Mistakes) in _ = try Profile(text: broken) } == [
                "box.yaml:4:3: unknown key 'swong' in 'clock'; did you mean 'swing'?"
            ])
    }

    @Test func `a byte order mark is ignored`() throws {
        #expect(try Profile(text: "\u{FEFF}" + GoodFiles.profile) == (Profile(text: GoodFiles.profile)))
        let broken = complaints { () throws(Mistakes) in _ = try Profile(text: "\u{FEFF}version: 2") }
        #expect(broken == ["box.yaml:1:10: 'version' is '2'; this program reads version 1"])
    }

    @Test func `a private-use character is allowed`() throws {
        #expect(try Profile(text: "version: 1\nname: \u{100000}\u{E000}").name == "\u{100000}\u{E000}")
    }

    @Test func `columns count characters, not bytes`() {
        let broken = complaints { () throws(Mistakes) in
            _ = try Profile(text: "version: 1\nname: Büx\nclock: { \"öffset\": 1, 🥁: 2, when: 3 }")
        }
        #expect(broken.map { $0.prefix(13) } == ["box.yaml:3:10", "box.yaml:3:23", "box.yaml:3:35"])
    }

    @Test(arguments: [("[", "]"), ("{ a: ", "}"), ("[ a: ", "]"), ("- ", ""), ("? ", "")])
    func `deep nesting is refused, not followed`(open: String, close: String) {
        for depth in [40, 990, 100_000] {
            let text = String(repeating: open, count: depth) + "x" + String(repeating: close, count: depth)
            let found = complaints { () throws(Mistakes) in
                _ = try Profile(text: "version: 1\nname: Box\nmatch:\n  \(text)")
            }
            #expect(!found.isEmpty && found.allSatisfy { $0.utf8.count < 200 }, "\(depth) of '\(open)'")
        }
    }

    @Test func `a tree that stands for a longer one is refused, not expanded`() {
        let levels = (1..<30).map { "a\($0): &a\($0) [*a\($0 - 1), *a\($0 - 1), *a\($0 - 1), *a\($0 - 1)]\n" }
        for end in ["match: *a29", "*a29 : 1", "? *a29\n: 1", "{ *a29 : 1 }", "name: Box\nname: Box\n*a1 : *a29"] {
            let bomb = "a0: &a0 [x, x, x, x]\n\(levels.joined())\(end)\n"
            let found = complaints { () throws(Mistakes) in _ = try Profile(text: "version: 1\n" + bomb) }
            #expect(!found.isEmpty && found.count < 200, "\(end)")
        }
    }

    @Test func `a tree of trees as a key takes no time`() {
        let inner = "[" + String(repeating: "a,", count: 60_000) + "]"
        let text = String(repeating: "? ", count: 900) + inner
        #expect(!complaints { () throws(Mistakes) in _ = try Profile(text: text) }.isEmpty)
    }

    @Test func `a file too long for a profile is not read`() {
        let long = "version: 1\nname: \"" + String(repeating: "x", count: 256 * 1024) + "\""
        #expect(
            complaints { () throws(Mistakes) in _ = try Profile(text: long) } == [
                "box.yaml:1:1: the file is longer than 256 KiB, too long for such a file"
            ])
        let huge = "version: 1\nname: Box\n" + String(repeating: "y", count: 200 * 1024) + ": 1"
        #expect(
            complaints { () throws(Mistakes) in _ = try Profile(text: huge) } == [
                "box.yaml:3:1: this is not a key; a key is followed by ':' and a space"
            ])
        let word = "version: 1\nname: Box\nclock: { when: " + String(repeating: "z", count: 200 * 1024) + " }"
        #expect(
            complaints { () throws(Mistakes) in _ = try Profile(text: word) } == [
                "box.yaml:3:16: 'when' is '\(String(repeating: "z", count: 40))…'; it takes always or playing"
            ])
    }

    @Test func `of twenty thousand mistakes the first twenty are told, and how many there are more`() throws {
        let keys = (0..<20_000).map { "key\($0): 1\n" }.joined()
        let mistakes = try #require(throws: Mistakes.self) { try Profile(text: "version: 1\nname: Box\n\(keys)") }
        #expect(mistakes.all.count == 20_000)
        #expect(mistakes.lines.count == 21 && mistakes.description.utf8.count < 10_000)
        #expect(mistakes.lines[19].hasPrefix("box.yaml:22:1: unknown key 'key19'; "))
        #expect(mistakes.lines[20] == "and 19980 more mistakes")
        let twenty = Mistakes(Array(mistakes.all.prefix(20)))
        #expect(twenty.lines == twenty.all.map(\.description))
    }

    @Test func `a file truncated anywhere is either valid or reported`() throws {
        for text in GoodFiles.profiles {
            let bytes = Array(text.utf8)
            for length in bytes.indices {
                let found = complaints { () throws(Mistakes) in
                    _ = try Profile(yaml: Array(bytes[..<length]), file: "box.yaml")
                }
                for line in found { #expect(line.hasPrefix("box.yaml:"), "\(length): \(line)") }
            }
        }
    }
}
