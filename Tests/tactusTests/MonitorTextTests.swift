import ArgumentParser
import BeatTime
import ClockMeter
import Essentials
import Foundation
import FoundationXML
import MIDIClock
import Testing

@testable import tactus

@Suite
struct MonitorTextTests {
    /// Ten seconds of 120 BPM with every other tick 100 us late, one lost, and a Start.
    private static let figures: ClockFigures = {
        var meter = ClockMeter(start: HostTime(microseconds: 0))
        meter.received(.start, at: HostTime(microseconds: 990))
        for number in Int64(0)..<480 where number != 200 {
            meter.received(.timingClock, at: HostTime(microseconds: 1_000 + number * 20_833 + number % 2 * 100))
        }
        meter.timePassed(to: HostTime(microseconds: 10_000_000))
        return meter.figures()
    }()

    @Test
    func `figures are a few rows that people can read`() throws {
        let rows = MonitorText.rows(Self.figures)
        #expect(rows.map(\.name) == ["tempo", "drift", "jitter", "intervals", "one to next", "ticks", "transport"])
        let texts = Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0.text) })
        #expect(texts["tempo"]?.hasPrefix("120.00") == true)
        let drift = try #require(texts["drift"]?.split(separator: " ").first.flatMap { Double($0) })
        #expect((14...18).contains(drift), "a period of 20 833 us is a tempo 16 ppm above 120 BPM")
        #expect(texts["jitter"]?.hasPrefix("deviation 50.") == true)
        #expect(texts["intervals"]?.contains("20.73 to 20.93 ms") == true)
        #expect(texts["one to next"]?.hasPrefix("rms 200 us") == true)
        #expect(texts["ticks"] == "479 ticks, 1 lost, 0 doubled")
        #expect(texts["transport"] == "playing, beat 19 of the song")
    }

    @Test(arguments: [
        (SoundKind.clicks, 1, "once; record at a lower level"),
        (SoundKind.clicks, 2, "2 times; record at a lower level"), (SoundKind.midi, 1, "yes; record at a lower level"),
    ])
    func `sounds that clip are counted, a MIDI line clips or not`(kind: SoundKind, clipped: Int, text: String) {
        let sound = SoundFigures(kind: kind, channel: 1, sampleRate: 48_000, clipped: clipped, unreadable: 1)
        let rows = MonitorText.rows(sound)
        #expect(rows.map(\.name) == ["level", "clipped", "unreadable"])
        #expect(rows.map(\.text) == ["silence", text, "once there was a signal that is not a MIDI byte"])
    }

    @Test
    func `the live view shows the clock's name, its state and the last transport message`() {
        let lines = MonitorText.view(Self.figures, of: "TR-8S\u{1B}[2J (24:0)", hint: "Ctrl-C ends it").map(\.text)
        #expect(lines.first == "TR-8S [2J (24:0)   locked   0:00:10")
        #expect(lines.last == "Ctrl-C ends it")
        #expect(lines.contains { $0.hasSuffix("0.001 s  start") })
        #expect(lines.contains { $0.hasPrefix("errors") && $0.contains("█") })
    }

    @Test
    func `before the first message, all texts say that no clock has come`() {
        let figures = ClockMeter(start: HostTime(microseconds: 0)).figures()
        let lines = MonitorText.view(figures, of: "TR-8S", hint: "").map(\.text)
        #expect(lines.first == "TR-8S   waiting for a clock   0:00:00")
        #expect(MonitorText.line(figures) == "0.0 s  waiting  0 ticks, 0 lost, 0 doubled")
        #expect(MonitorPlot.svg(figures, of: "TR-8S").hasSuffix("</svg>\n"))
    }

    @Test(arguments: [
        (0.04, "0.0 us"), (42.31, "42.3 us"), (-500, "-500 us"), (999.4, "999 us"), (1_234, "1.23 ms"),
        (99_994, "99.99 ms"), (141_203, "141.2 ms"), (999_949, "999.9 ms"), (999_950, "1.00 s"), (2_500_000, "2.50 s"),
    ])
    func `durations are said in the unit that suits them`(microseconds: Double, text: String) {
        #expect(spokenDuration(microseconds) == text)
    }

    @Test
    func `the plot is well-formed, refers to no other file, and escapes the clock's name`() throws {
        let svg = MonitorPlot.svg(Self.figures, of: "<script>&\"\u{7}")
        let parser = XMLParser(data: Data(svg.utf8))
        let elements = Elements()
        parser.delegate = elements
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        #expect(elements.names.contains("path") && elements.names.contains("rect"))
        #expect(!elements.names.contains("script"))
        #expect(!svg.contains("href") && !svg.contains("url("))
    }

    @Test
    func `the JSON report has numbers under fixed keys`() throws {
        let report = MonitorReport(name: "TR-8S (24:0)", stamps: .kernel, figures: Self.figures)
        let object = try JSONSerialization.jsonObject(with: Data(report.json.utf8)) as? [String: Any]
        let json = try #require(object)
        #expect(
            Set(json.keys) == [
                "port", "stamps", "seconds", "state", "tempo", "ticks", "jitter", "silences", "transport", "histogram",
                "trace",
            ])
        #expect(json["stamps"] as? String == "kernel")
        #expect((json["ticks"] as? [String: Int])?["lost"] == 1)
        let jitter = try #require(json["jitter"] as? [String: [String: Double]])
        #expect(
            Set(try #require(jitter["timeIntervalErrorMicroseconds"]).keys) == [
                "deviation", "p50", "p99", "p999", "max",
            ])
    }

    @Test
    func `the port to measure is named as in other commands; without a name the monitor opens its own`() throws {
        func port(_ words: String...) throws -> MonitoredPort? {
            guard case .port(let port) = (try Tactus.parseAsRoot(["monitor"] + words) as? MonitorCommand)?.source else {
                return nil
            }
            return port
        }
        #expect(try port() == .own)
        #expect(try port("TR-8S MIDI 1") == .sequencer("TR-8S MIDI 1"))
        #expect(try port("24:0") == .sequencer("24:0"))
        #expect(try port("hw:1,0") == .device("hw:1,0"))
        #expect(try port("raw:/dev/null@38400") == .line(path: "/dev/null", bitsPerSecond: 38_400))
        for wrong in ["hw:", "hw:1", "raw:", "999:0", "virtual:Drums", " "] {
            #expect(throws: (any Error).self) { try port(wrong) }
        }
    }

    /// Collects the names of all elements that a parser finds.
    private final class Elements: NSObject, XMLParserDelegate {
        var names: Set<String> = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) { names.insert(name) }
    }
}
