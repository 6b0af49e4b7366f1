import BeatTime
import Gateway
import MIDIClock
import OpenSoundControl
import Testing

@testable import ControlServer

/// The commands that Open Sound Control messages mean.
@Suite
struct OSCTests {
    @Test(arguments: [
        (OSCMessage("/tactus/play"), Command.setPlaying(true)),
        (OSCMessage("/tactus/play", [.number(1)]), .setPlaying(true)),
        (OSCMessage("/tactus/stop", [.number(1)]), .setPlaying(false)),
        (OSCMessage("/tactus/toggle-play", [.text("now")]), .togglePlaying),
        (OSCMessage("/tactus/tap", [.number(1), .number(2)]), .tap(at: nil)),
        (OSCMessage("/tactus/toggle-link"), .toggleLink),
        (OSCMessage("/tactus/realign"), .realign(output: nil, .atBar)),
        (OSCMessage("/tactus/mute", [.number(1), .text("tr-8s")]), .mute(output: "tr-8s", .on)),
        (OSCMessage("/tactus/mute", [.number(0)]), .mute(output: nil, .off(afterBars: 0))),
        (
            OSCMessage("/tactus/bend", [.number(-4), .text("a")]),
            .bend(output: "a", percent: -4, for: Command.bendTime)
        ),
        (OSCMessage("/tactus/enter", [.number(8), .text("a")]), .mute(output: "a", .off(afterBars: 8))),
        (OSCMessage("/tactus/count-in", [.number(2)]), .countIn(bars: 2)),
        (OSCMessage("/tactus/realign", [.text("tr-8s")]), .realign(output: "tr-8s", .atBar)),
        (OSCMessage("/tactus/link", [.number(0)]), .enableLink(false)),
        (OSCMessage("/tactus/link", [.number(1)]), .enableLink(true)),
        (OSCMessage("/tactus/start-stop-sync", [.number(1)]), .enableStartStopSync(true)),
        (OSCMessage("/tactus/tempo", [.number(128.5)]), .setTempo(Tempo(beatsPerMinute: 128.5))),
        (OSCMessage("/tactus/tempo-step", [.number(-0.5)]), .stepTempo(by: -0.5)),
        (OSCMessage("/tactus/half-tempo"), .scaleTempo(by: 0.5)),
        (OSCMessage("/tactus/double-tempo", [.number(1)]), .scaleTempo(by: 2)),
        (OSCMessage("/tactus/undo"), .undo),
        (OSCMessage("/tactus/quantum", [.number(3)]), .setQuantum(Beats(3))),
        (OSCMessage("/tactus/nudge", [.number(-2)]), .adjust(output: nil, OutputAdjustment(nudge: -2))),
        (
            OSCMessage("/tactus/nudge", [.number(2), .text("TR-8S")]),
            .adjust(output: "TR-8S", OutputAdjustment(nudge: 2))
        ),
        (OSCMessage("/tactus/follow", [.text("MPC One")]), .follow(.port("MPC One"))),
        (OSCMessage("/tactus/play/"), .setPlaying(true)),
        (OSCMessage("/tactus/tap", [.number(127)]), .tap(at: nil)),
        (OSCMessage("/tactus/tap", [.text("1")]), .tap(at: nil)),
        (OSCMessage("/tactus/link", [.number(127)]), .enableLink(true)),
        (OSCMessage("/tactus/link/", [.text("0")]), .enableLink(false)),
        (OSCMessage("/tactus/start-stop-sync", [.text("on")]), .enableStartStopSync(true)),
        (OSCMessage("/tactus/start-stop-sync", [.text("false")]), .enableStartStopSync(false)),
        (OSCMessage("/tactus/tempo", [.text("128.5")]), .setTempo(Tempo(beatsPerMinute: 128.5))),
        (OSCMessage("/tactus/tempo-step", [.text("-1")]), .stepTempo(by: -1)),
        (OSCMessage("/tactus/nudge", [.text("-2"), .text("8")]), .adjust(output: "8", OutputAdjustment(nudge: -2))),
        (OSCMessage("/tactus/realign", [.text("0")]), .realign(output: "0", .atBar)),
    ])
    func `a message is a command`(message: OSCMessage, command: Command) throws {
        #expect(try message.command() == command)
    }

    @Test(arguments: [
        "play", "stop", "toggle-play", "tap", "toggle-link", "realign", "half-tempo", "double-tempo", "undo",
        "tempo-step",
    ])
    func `releasing a button does nothing`(name: String) throws {
        #expect(try OSCMessage("/tactus/\(name)", [.number(0)]).command() == nil)
        // As a text it may be an output's name.
        if name != "realign" { #expect(try OSCMessage("/tactus/\(name)/", [.text("0.0")]).command() == nil) }
    }

    @Test(arguments: [
        OSCMessage("/tactus/tempo"), OSCMessage("/tactus/tempo", [.text("fast")]),
        OSCMessage("/tactus/tempo", [.text("")]), OSCMessage("/tactus/link", [.text("maybe")]),
        OSCMessage("/tactus/link", [.text("nan")]), OSCMessage("/tactus//play"), OSCMessage("/tactus/play//"),
        OSCMessage("/tactus/tempo", [.number(19.9)]), OSCMessage("/tactus/tempo", [.number(.nan)]),
        OSCMessage("/tactus/tempo", [.number(.infinity)]), OSCMessage("/tactus/quantum", [.number(65)]),
        OSCMessage("/tactus/tempo-step"), OSCMessage("/tactus/tempo-step", [.number(980)]),
        OSCMessage("/tactus/nudge", [.number(1e300)]), OSCMessage("/tactus/link"),
        OSCMessage("/tactus/link", [.other]), OSCMessage("/tactus/follow", [.text("")]), OSCMessage("/tactus/follow"),
        OSCMessage("/tactus/dance"), OSCMessage("/"), OSCMessage("/tactus/" + String(repeating: "x", count: 60_000)),
    ])
    func `an invalid message is refused with a line that says what is valid`(message: OSCMessage) throws {
        let refusal = try #require(#expect(throws: OSCError.self) { try message.command() })
        #expect(refusal.description.count < 200)
        #expect(refusal.description.contains(message.address.prefix(14)))
    }

    @Test
    func `a complaint that quotes a long text is shortened, even if that is a single character`() {
        let accents = String(repeating: "\u{301}", count: 60_000)
        for text in ["a" + accents, String(repeating: "a", count: 300)] {
            #expect(ComplaintGate.shortened(text).unicodeScalars.count == 200)
            let error = #expect(throws: OSCError.self) { try OSCMessage("/" + text).command() }
            #expect(error?.description.unicodeScalars.count ?? 0 < 100)
        }
        #expect(ComplaintGate.shortened("/a takes 1 or 0") == "/a takes 1 or 0")
    }

    @Test
    func `repeated complaints are suppressed, and at most one is logged in ten seconds`() {
        var gate = ComplaintGate()
        let start = ContinuousClock.now
        var passed: [Int] = []
        for second in 0..<60 where gate.lets(second < 30 ? "a" : "\(second)", at: start + .seconds(second)) {
            passed.append(second)
        }
        #expect(passed == [0, 30, 40, 50])
        let again = (50...650).filter { gate.lets("50", at: start + .seconds($0)) }
        #expect(again == [650])
    }
}
