import Logging
import Testing

@testable import tactus

@Suite
struct LogFormatTests {
    private let event = LogEvent(
        level: .warning, message: "peer left", metadata: nil, source: nil, file: "", function: "", line: 0)
    private let time: Int64 = 1_763_695_425_250

    private func line(_ format: LogFormat, _ metadata: Logger.Metadata) -> String {
        format.line(event, label: "tactus.link", metadata: metadata, at: time)
    }

    @Test
    func `on a terminal a line has time, level, message and metadata in order`() {
        let line = line(.text, ["peer": "59492", "interface": "eth0", "error": "no route to host"])
        #expect(line.dropFirst(8) == #" warning peer left error="no route to host" interface=eth0 peer=59492"#)
        #expect(line.prefix(8).wholeMatch(of: /\d\d:\d\d:45/) != nil)
    }

    @Test
    func `the journal gets a priority and no time`() {
        #expect(line(.journal, ["peer": "59492"]) == "<4>peer left peer=59492")
    }

    @Test
    func `JSON is one object per line with sorted keys`() {
        #expect(
            line(.json, ["peer": "a/b\nc"]) == """
                {"label":"tactus.link","level":"warning","message":"peer left","metadata":{"peer":"a/b\\nc"},\
                "time":"2025-11-21T03:23:45.250Z"}
                """)
    }

    @Test
    func `lost lines are told in the same format`() {
        #expect(
            LogFormat.json.lossLine(count: 7, at: time) == """
                {"label":"tactus","level":"warning","message":"log lines lost, because nobody read them",\
                "metadata":{"count":"7"},"time":"2025-11-21T03:23:45.250Z"}
                """)
        #expect(
            LogFormat.journal.lossLine(count: 7, at: time) == "<4>log lines lost, because nobody read them count=7")
    }

    @Test(arguments: ["evil\u{1B}[2J", "two\nlines", "back\rspace", "\u{9B}31m"])
    func `foreign names cannot move the cursor or begin a line`(name: String) {
        for format in [LogFormat.text, .journal, .json] {
            let line = line(format, ["peer": "\(name)"])
            #expect(line.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        }
    }
}
