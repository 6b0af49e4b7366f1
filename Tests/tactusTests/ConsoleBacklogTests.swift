import Testing

@testable import tactus

@Suite
struct ConsoleBacklogTests {
    private static let clear = "\r\u{1B}[K"

    private func empty() -> ConsoleBacklog { ConsoleBacklog { "\($0) lost" } }

    /// Everything that waits.
    private func rest(of backlog: inout ConsoleBacklog) -> String {
        var text = ""
        while let next = backlog.take() { text += next }
        return text
    }

    @Test
    func `lines come out in order, above the live line`() {
        var (backlog, written) = (empty(), [String]())
        written.append(rest(of: &backlog))
        backlog.add("one")
        backlog.add("two")
        written.append(rest(of: &backlog))
        backlog.show("live")
        written.append(rest(of: &backlog))
        backlog.add("three")
        written.append(rest(of: &backlog))
        backlog.show("")
        written.append(rest(of: &backlog))
        backlog.add("four")
        written.append(rest(of: &backlog))
        #expect(
            written == [
                "", "one\ntwo\n", Self.clear + "live", Self.clear + "three\nlive", Self.clear, "four\n",
            ])
    }

    @Test
    func `of a live line only the newest state is written`() {
        var (backlog, written) = (empty(), [String]())
        for beat in 0..<1000 { backlog.show("\(beat)") }
        written.append(rest(of: &backlog))
        backlog.show("999")
        written.append(rest(of: &backlog))
        #expect(written == [Self.clear + "999", ""])
    }

    @Test
    func `while nobody reads, memory is bounded, the newest lines stay, and the number of lost ones is told`() throws {
        var backlog = empty()
        let total = 100_000
        for number in 1...total { backlog.add("line \(number)") }
        let lines = rest(of: &backlog).split(separator: "\n").map(String.init)
        let lost = try #require(lines.first.flatMap { Int($0.prefix { $0 != " " }) })
        #expect(lines[0] == "\(lost) lost")
        #expect(lines.dropFirst().elementsEqual((lost + 1...total).map { "line \($0)" }))
        #expect(lines.joined().utf8.count < 100_000)
        backlog.add("after")
        let after = rest(of: &backlog)
        #expect(after == "after\n")
    }

    @Test
    func `what could not be written is counted, too, and told with the next line`() {
        var backlog = empty()
        for lines in [["one", "two"], ["three"]] {
            for line in lines { backlog.add(line) }
            _ = backlog.take()
            backlog.failed()
        }
        let none = backlog.take()
        #expect(none == nil)
        backlog.add("four")
        let text = rest(of: &backlog)
        #expect(text == "3 lost\nfour\n")
    }

    @Test
    func `a line longer than all there is room for is lost, and nothing else`() {
        var backlog = empty()
        backlog.add(String(repeating: "x", count: 1 << 20))
        backlog.add("after")
        let text = rest(of: &backlog)
        #expect(text == "1 lost\nafter\n")
    }
}
