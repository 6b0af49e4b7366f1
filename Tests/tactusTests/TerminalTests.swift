import Testing

@testable import tactus

@Suite
struct TerminalTests {
    private let line = Line("Tempo ", .faint) + "128" + Line(" BPM", .good)

    @Test
    func `a line has its text, and tones only if allowed`() {
        #expect(line.text == "Tempo 128 BPM")
        #expect(line.rendered(inColour: false) == "Tempo 128 BPM")
        #expect(line.rendered(inColour: true) == "\u{1B}[2mTempo \u{1B}[0m128\u{1B}[32m BPM\u{1B}[0m")
    }

    @Test
    func `a line is cut at the terminal's width`() {
        for width in 0...20 { #expect(line.clipped(to: width).text == String("Tempo 128 BPM".prefix(width))) }
        #expect(line.clipped(to: -1).text.isEmpty)
        #expect(line.padded(to: 15).text == "Tempo 128 BPM  ")
    }

    @Test
    func `a text is wrapped at words, and only a longer word is broken`() {
        #expect("plug it in again".wrapped(to: 7) == ["plug it", "in", "again"])
        #expect("at /dev/serial/by-id now".wrapped(to: 10) == ["at", "/dev/seria", "l/by-id", "now"])
        #expect("as it  is".wrapped(to: 9) == ["as it  is"])
        #expect("".wrapped(to: 5) == [""] && "      ".wrapped(to: 5) == [""] && "ab".wrapped(to: 0) == ["a", "b"])
        let lines = Line.wrapped("one two three four five six", .caution, after: Line("! ", .bad), to: 22)
        #expect(lines.map(\.text) == ["! one two three four", "  five six"])
    }

    @Test
    func `a long name keeps its beginning and its end`() {
        #expect("Interface MIDI 1".shortened(to: 16) == "Interface MIDI 1")
        #expect("Interface MIDI 12".shortened(to: 9) == "Inte…I 12")
    }

    @Test
    func `foreign names cannot control the terminal`() {
        #expect(Line("a\u{1B}[2J\nb\u{9B}c").text == "a [2J b c")
    }

    @Test
    func `lines are drawn over the previous ones, and leftovers are cleared`() {
        #expect(Block.redraw(over: 0, ["one"], inColour: false) == "\u{1B}[?7l\rone\u{1B}[K\n\u{1B}[J\u{1B}[?7h")
        #expect(Block.redraw(over: 3, ["one"], inColour: false).hasPrefix("\u{1B}[?7l\r\u{1B}[3Aone"))
    }

    @Test
    func `a full screen ends without a line break, which would scroll it`() {
        #expect(FullScreen.frame(["a", "b"], inColour: false) == "\u{1B}[Ha\u{1B}[K\r\nb\u{1B}[K\u{1B}[J")
    }
}
