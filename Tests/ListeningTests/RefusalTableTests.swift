import ALSASequencer
import AudioCapture
import Foundation
import Listening
import SoundCalibration
import Testing

/// The tables of docs/calibrating.md, whose ellipses stand for names and figures.
@Suite
struct RefusalTableTests {
    private static let project = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The messages listed, without their advice, each in the parts between its ellipses.
    private static let rows: [[String]] = {
        let text = (try? String(contentsOf: project.appending(path: "docs/calibrating.md"), encoding: .utf8)) ?? ""
        let section = text.split(separator: "## What it says if it cannot").last ?? ""
        return section.prefix { $0 != "#" }.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| `"), let end = line.dropFirst(3).firstIndex(of: "`") else { return nil }
            return line.dropFirst(3)[..<end].split(separator: "…").map(String.init)
        }
    }()

    /// Whether a text has the parts, in their order.
    private static func matches(_ text: String, _ parts: [String]) -> Bool {
        var rest = text[...]
        for part in parts {
            guard let found = rest.range(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }

    private static let doubts: [SoundDoubt] = [
        .noHits(heard: 0, beats: 16, decibels: nil), .noHits(heard: 1, beats: 16, decibels: -71.2), .clipping,
        .several(perBeat: 2), .uneven(matched: 20, beats: 48), .fellSilent(after: 40, beats: 80),
        .wrongBeat(microseconds: 125_000, interval: 500_000),
        .wholeBeat, .drift(perMinute: 9_000), .doesNotFollow(response: 0.02), .clockUnmoved, .tempoChanged,
        .scattered(spread: 6_000), .noReference(matched: 3, beats: 48), .unclearReference(response: 0.5), .interrupted,
        .lost, .noStamps, .sameClock, .noStart, .strangeReference,
    ]

    @Test(arguments: doubts)
    func `every refusal says in one line what to do`(doubt: SoundDoubt) {
        let words = doubt.words(of: "TR-8S", channel: 3, against: 4)
        #expect(!words.contains("\n") && words.count > 40)
        let advice = [
            "see that", "set ", "try ", "turn ", "have ", "keep ", "switch ", "program ", "close ",
        ]
        #expect(advice.contains { words.contains($0) }, "\(words)")
    }

    @Test
    func `every refusal is in the tables, once`() {
        let cards = [-13, -16, -22, -2].map { code in
            ListeningProblem(.notOpened(ALSAError(operation: "snd_pcm_open", code: Int32(code))), of: "hw:1").message
        }
        let gone = ListeningProblem(.gone(ALSAError(operation: "snd_pcm_readi", code: -19)), of: "hw:1").message
        let messages =
            Self.doubts.map { $0.words(of: "TR-8S", channel: 3, against: 4) } + cards
            + [gone, ListeningProblem.noSound("hw:1").message]
        for message in messages {
            #expect(Self.rows.count { Self.matches(message, $0) } == 1, "\(message)")
        }
    }

    /// What needs a gateway to be said is looked up in the program's text.
    @Test
    func `every message of the tables is one that the program prints`() throws {
        let folder = Self.project.appending(path: "Sources/Listening")
        let files =
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            + [Self.project.appending(path: "Sources/tactus/OwnProfile.swift")]
        // A long message is written as several texts.
        let program = try files.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
            .replacing(/"\s*\+ "/, with: "")
        #expect(Self.rows.count > 40)
        for row in Self.rows {
            for part in row {
                #expect(program.contains(part.trimmingCharacters(in: .whitespaces)), "\(part)")
            }
        }
    }
}
