import Essentials
import Listening
import SoundCalibration
import Testing

@testable import tactus

@Suite
struct ListeningTextTests {
    @Test
    func `a hit that is far off names a tempo at which it can be measured`() {
        let failure = MeasurementFailure.wrongBeat(microseconds: 125_000, interval: 500_000)
        let message = failure.message(for: "TR-8S", channel: 1, against: nil)
        #expect(message.contains("125.0 ms late") && message.contains("at 48 BPM"))
    }

    @Test
    func `each line of a result stays a line, and a name cannot steer the terminal`() {
        #expect(CalibrateCommand.plain(["a", "b\u{1B}c\n2"]) == "a\nb c 2")
    }

    @Test
    func `what was saved is said, or why no profile was written`() throws {
        var saved = ListeningReport.Saved(offsetMilliseconds: -3.15)
        saved.problem = "/x.yaml cannot be written"
        let failure = #expect(throws: Failure.self) { _ = try ListeningText.profile(of: saved) }
        #expect(failure?.text.hasPrefix("the offset is set to -3.15 ms") == true)
        #expect(failure?.text.hasSuffix("no profile was written: /x.yaml cannot be written") == true)
        saved.profile = "/x.yaml"
        #expect(try ListeningText.profile(of: saved) == "/x.yaml")
    }

    @Test
    func `a result says its delay, its offset and a verdict, and is drawn`() throws {
        let hits = (0..<4).map { SoundResult.Delay(beat: $0, microseconds: 3_000 + 100 * Double($0)) }
        let found = SoundResult(
            delay: 3_150, uncertainty: 80, spread: 120, drift: -10, used: 4, rejected: 1, response: 1.01,
            offset: -3_150, reference: .beat, hits: hits)
        let result = ListeningFigures(found)
        let saved = ListeningReport.Saved(offsetMilliseconds: -3.15, profile: "/x.yaml")
        let said = try JSON.text(ListeningText.Found(figures: result, saved: saved))
        #expect(try JSON.value(ListeningFigures.self, from: said.utf8) == result)
        let unsaved = try JSON.text(ListeningText.Found(figures: result))
        #expect(said.contains("/x.yaml") && !unsaved.contains("saved"))
        func text(isLatencyKnown: Bool) -> String {
            ListeningText.lines(result, of: "TR-8S", isLatencyKnown: isLatencyKnown).joined(separator: "\n")
        }
        let lines = text(isLatencyKnown: true)
        #expect(!lines.contains("latency") && text(isLatencyKnown: false).contains("give it as --input-latency"))
        #expect(lines.contains("sounds 3.15 ms after the beat"))
        #expect(lines.contains("with an offset of -3.15 ms it sounds on the beat"))
        #expect(lines.contains("steady") && lines.contains("4 used, 1 rejected") && lines.contains("followed by 101 %"))
        let plot = ListeningPlot.svg(result, of: "TR-<8S>")
        #expect(plot.contains("TR-&lt;8S&gt;") && plot.count { $0 == "M" } >= 4)
        #expect(plot.hasPrefix("<svg") && !plot.contains("nan"))
    }
}
