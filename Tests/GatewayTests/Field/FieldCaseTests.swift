import Foundation
import Simulation
import Testing

/// What people have met, as text files in `Tests/Field`, played through whole gateways in virtual time.
@Suite
struct FieldCaseTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Field")
        .standardizedFileURL
    private static let files =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []).filter { $0.hasSuffix(".case") }
        .sorted()

    private static func cases(in file: String) throws -> [FieldCase] {
        let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        return try FieldReader.cases(in: text, file: "Tests/Field/\(file)")
    }

    @Test
    func `there are field cases`() { #expect(!Self.files.isEmpty) }

    /// A case that waits for something still to be built fails once it passes, so that nobody forgets it.
    @Test(arguments: files)
    func `a field case comes out as its file says`(file: String) throws {
        let cases = try Self.cases(in: file)
        if let reason = cases.first?.waitsFor {
            withKnownIssue("\(file) waits for \(reason); once it passes, take its line 'waits for' out") {
                for field in cases { try Self.play(field) }
            }
        } else {
            for field in cases { try Self.play(field) }
        }
    }

    private static func play(_ field: FieldCase) throws {
        for seed in Seeds.standing(field.seeds) {
            for complaint in try FieldPlay(field, seed: seed).complaints {
                Issue.record("\(complaint)\n\(field.name), seed \(seed)")
            }
        }
    }

    /// Lines, each with what is said about it and where; the rest of the file is right.
    @Test(arguments: [
        ("clock 120 bpm for 8", "2:20: 'beats' belongs here"),
        ("clock 120 for 8 beats", "2:11: 'bpm' belongs here, not 'for'"),
        ("clock 120 bpm for 8 beats grid 256", "2:32: frames and their rate belong here, as 256/48000"),
        ("clock 120 bpm for 8 beats sideways", "2:27: one of these belongs here: at, swing"),
        ("send FA at 2 s", "2:6: a line 'clock …' belongs above"),
        ("march at 2 s", "2:1: no line begins with 'march'"), ("do dance at 2 s", "2:4: play, stop, toggle-play"),
        ("do play at 2 weeks", "2:14: a unit belongs here: s, ms or us, as in '2.5 s', not 'weeks'"),
        ("do play at 2 s refused please", "2:24: a text of the refusal belongs here, in double quotes"),
        ("tap at 2 s 3 s", "2:12: nothing more belongs on this line, not '3'"),
        ("at 2 s: hello", "2:9: bytes such as F8 or B0 40 7F belong here"),
        ("from pedal Foot", "2:12: the name of its port belongs here, in double quotes, not 'Foot'"),
        ("tap $tempo bpm 4 times from 2 s", "2:5: $tempo has no value; 'for tempo in 90, 120' above"),
        ("control: { port: A, message: { note: 200 }, do: tap }", "2:10: a control belongs here"),
        ("machine: transport: { sing: true }", "2:10: a line of a profile belongs here"),
        ("expect tempo 120 within 1", "2:26: a time belongs here"),
        ("expect note \"loud", "2:13: this text needs a \" at its end"),
        ("expect wonders", "2:8: one of these belongs here: starts"),
        ("for tempo in fast", "2:14: a value belongs here, a number"),
        ("seeds 3 to 2", "2:12: a seed belongs here, a whole number from 3 to 10000, not '2'"),
    ])
    func `a mistake in a file is told with its line, its column and what would be right`(
        line: String, mistake: String
    ) throws {
        let text = "source: a test\n\(line)\nexpect starts 0\n"
        let found = #expect(throws: FieldMistake.self) { try FieldReader.cases(in: text, file: "a.case") }
        let description = try #require(found).description
        #expect(description.hasPrefix("a.case:\(mistake)"))
    }

    @Test
    func `a file without its source, or that expects nothing, is a mistake`() {
        #expect(throws: FieldMistake.self) { try FieldReader.cases(in: "expect starts 0\n", file: "a.case") }
        #expect(throws: FieldMistake.self) { try FieldReader.cases(in: "source: a test\n", file: "a.case") }
    }

    @Test
    func `what is not as expected is told with its line and column`() throws {
        let text = """
            source: a test
            from leader 1
            clock 120 bpm for 12 beats at 1 s
            send FA with tick 96
            do play at 6 s
            expect starts 2
              expect tempo 130 within 1 after 8 beats
            expect gaps even within 2 ms after 8 beats
            expect note "wonder"
            """
        let field = try #require(try FieldReader.cases(in: text, file: "a.case").first)
        let places = try FieldPlay(field, seed: 1).complaints.map { $0.split(separator: " ").first ?? "" }
        #expect(places == ["a.case:5:1:", "a.case:6:1:", "a.case:7:3:", "a.case:9:1:"])
    }

    @Test
    func `each combination of values is a run`() throws {
        let text = "source: a test\nfor a in 1, 2.5\nfor b in 3, 4\ntap at $a s\nexpect starts 0\n"
        let cases = try FieldReader.cases(in: text, file: "a.case")
        #expect(cases.map(\.values) == ["a 1, b 3", "a 1, b 4", "a 2.5, b 3", "a 2.5, b 4"])
        #expect(cases.map(\.events[0].time) == [1, 1, 2.5, 2.5])
    }
}
