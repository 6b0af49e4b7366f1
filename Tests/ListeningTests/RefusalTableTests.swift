import ALSASequencer
import AudioCapture
import Foundation
import Listening
import SoundCalibration
import Testing

/// The tables of messages in docs/calibrating.md, where an ellipsis stands for a name or a figure.
@Suite
struct RefusalTableTests {
    private static let project = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The first column of the tables; each message is split at its ellipses.
    private static let rows: [[String]] = {
        let text = (try? String(contentsOf: project.appending(path: "docs/calibrating.md"), encoding: .utf8)) ?? ""
        let section = text.split(separator: "## What it says if it cannot").last ?? ""
        return section.prefix { $0 != "#" }.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| `"), let end = line.dropFirst(3).firstIndex(of: "`") else { return nil }
            return line.dropFirst(3)[..<end].split(separator: "…").map(String.init)
        }
    }()

    /// Whether the text contains all parts, in this order.
    private static func matches(_ text: String, _ parts: [String]) -> Bool {
        var rest = text[...]
        for part in parts {
            guard let found = rest.range(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }

    private static let failures: [MeasurementFailure] = [
        .noHits(heard: 0, beats: 16, decibels: nil), .noHits(heard: 1, beats: 16, decibels: -71.2), .clipping,
        .several(perBeat: 2), .uneven(matched: 20, beats: 48), .fellSilent(after: 40, beats: 80),
        .wrongBeat(microseconds: 125_000, interval: 500_000),
        .wholeBeat, .drift(perMinute: 9_000), .doesNotFollow(response: 0.02), .clockUnmoved, .tempoChanged,
        .scattered(spread: 6_000), .noReference(matched: 3, beats: 48), .unclearReference(response: 0.5), .interrupted,
        .lost, .noStamps, .sameClock, .noStart, .strangeReference,
    ]

    @Test(arguments: failures)
    func `every message about sound says in one line what to do`(failure: MeasurementFailure) {
        let message = failure.message(for: "TR-8S", channel: 3, against: 4)
        #expect(!message.contains("\n") && message.count > 40)
        let advice = [
            "check that", "set ", "try ", "turn ", "have ", "keep ", "switch ", "program ", "close ",
        ]
        #expect(advice.contains { message.contains($0) }, "\(message)")
    }

    @Test
    func `each message about sound and sound cards matches exactly one table row`() {
        let openFailures = [-EACCES, -EBUSY, -EINVAL, -ENOENT].map { code in
            ListeningProblem(.notOpened(ALSAError(operation: "snd_pcm_open", code: code)), of: "hw:1").message
        }
        let gone = ListeningProblem(.gone(ALSAError(operation: "snd_pcm_readi", code: -ENODEV)), of: "hw:1").message
        let messages =
            Self.failures.map { $0.message(for: "TR-8S", channel: 3, against: 4) } + openFailures
            + [gone, ListeningProblem.noSound("hw:1").message]
        for message in messages {
            #expect(Self.rows.count { Self.matches(message, $0) } == 1, "\(message)")
        }
    }

    /// Some messages need a running gateway, so the tables are compared with the source code.
    @Test
    func `every part of a table message occurs in the source code`() throws {
        let folder = Self.project.appending(path: "Sources/Listening")
        let files =
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            + ["Sources/tactus/OwnProfile.swift", "Sources/ALSASequencer/ALSAError.swift"].map {
                Self.project.appending(path: $0)
            }
        // Joins string literals that are split with `+`.
        let program = try files.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
            .replacing(/"\s*\+ "/, with: "")
        // Fails if the section or the tables are not found.
        #expect(Self.rows.count > 40)
        for row in Self.rows {
            for part in row {
                #expect(program.contains(part.trimmingCharacters(in: .whitespaces)), "\(part)")
            }
        }
    }
}
