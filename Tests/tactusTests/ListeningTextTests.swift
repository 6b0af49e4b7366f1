import Listening
import SoundCalibration
import Testing

@testable import tactus

@Suite
struct ListeningTextTests {
    private static let doubts: [SoundDoubt] = [
        .noHits(heard: 0, beats: 16, decibels: nil), .noHits(heard: 1, beats: 16, decibels: -71.2), .clipping,
        .several(perBeat: 2), .uneven(matched: 20, beats: 48), .wrongBeat(microseconds: 125_000, interval: 500_000),
        .wholeBeat, .drift(perMinute: 9_000), .doesNotFollow(response: 0.02), .clockUnmoved, .tempoChanged,
        .scattered(spread: 6_000), .noReference(matched: 3, beats: 48), .unclearReference(response: 0.5), .interrupted,
        .lost, .noStamps, .sameClock, .noStart,
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
    func `a hit that is far off names a tempo at which it can be measured`() {
        let doubt = SoundDoubt.wrongBeat(microseconds: 125_000, interval: 500_000)
        let words = doubt.words(of: "TR-8S", channel: 1, against: nil)
        #expect(words.contains("125.00 ms late") && words.contains("at 48 BPM"))
    }

    @Test
    func `each line of a result stays a line, and a name cannot steer the terminal`() {
        #expect(CalibrateCommand.plain(["a", "b\u{1B}c\n2"]) == "a\nb c 2")
    }

    @Test
    func `a result says its delay, its offset and a verdict, and is drawn`() {
        let hits = (0..<4).map { SoundResult.Delay(beat: $0, microseconds: 3_000 + 100 * Double($0)) }
        let found = SoundResult(
            delay: 3_150, uncertainty: 80, spread: 120, drift: -10, used: 4, rejected: 1, response: 1.01,
            offset: -3_150, reference: .beat, hits: hits)
        let result = ListeningFigures(found)
        func text(isLatencyKnown: Bool) -> String {
            ListeningText.lines(result, of: "TR-8S", isLatencyKnown: isLatencyKnown).joined(separator: "\n")
        }
        let lines = text(isLatencyKnown: true)
        #expect(!lines.contains("latency") && text(isLatencyKnown: false).contains("give it as --input-latency"))
        #expect(lines.contains("sounds 3.15 ms after the beat") && lines.contains("its offset is -3.15 ms"))
        #expect(lines.contains("steady") && lines.contains("4 used, 1 rejected") && lines.contains("followed by 101 %"))
        let plot = ListeningPlot.svg(result, of: "TR-<8S>")
        #expect(plot.contains("TR-&lt;8S&gt;") && plot.count { $0 == "M" } >= 4)
        #expect(plot.hasPrefix("<svg") && !plot.contains("nan"))
    }
}
