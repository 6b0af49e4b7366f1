import ALSASequencer
import AudioCapture
import Gateway
import GatewayStatus
import Listening
import MIDIClock
import SoundCalibration
import Testing

/// Sessions in virtual time: what they have the gateway do, and what they leave behind.
@Suite
struct ListeningSessionTests {
    /// A session, what it hears, and what the gateway was given.
    private struct Stage {
        var session: ListeningSession
        var heard = ListeningSession.Heard()
        var now = Duration.zero
        var isWatched = true
        /// Every command that was given.
        var commands: [Command] = []
        /// Commands that the gateway refuses, by their number.
        var refused: Set<Int> = []
        var output: Status.Output
        var others: [Status.Output] = []
        var isPlaying = false

        init(_ request: ListeningRequest = ListeningRequest(output: "drums", device: "hw:1"), offset: Double = 1.5) {
            session = ListeningSession(request, id: "x", name: "Drums", at: .zero)
            output = Status.Output(
                id: "drums", name: "Drums", profile: nil, port: "24:0", connected: true, enabled: true, ticks: 0,
                lateTicks: 0, offsetMilliseconds: offset, multiply: 1, divide: 1, swing: 50, latenessMicroseconds: nil)
        }

        var report: ListeningReport {
            var copy = session
            return copy.asked(at: now)
        }

        /// Goes on for some time while the card gives sound.
        mutating func run(_ time: Duration, hasSound: Bool = true) {
            let end = now + time
            while now < end {
                now += .milliseconds(30)
                if hasSound { heard.blocks += 1 }
                if isWatched { _ = session.asked(at: now) }
                turn()
            }
        }

        private mutating func turn() {
            heard.outputs = [output] + others
            while true {
                switch session.next(heard, at: now) {
                case .wait, .end: return
                case .hear:
                    let start = ListeningSession.Start(
                        outputs: heard.outputs, isPlaying: isPlaying, tempo: 120, quantum: 4)
                    session.begin(.success(start), at: now)
                case .perform(let command):
                    let isRefused = refused.contains(commands.count)
                    commands.append(command)
                    session.performed(isRefused ? .failure(ListeningProblem(.refused, "busy")) : .success(()))
                    if heard.shift != 0 { return }
                }
            }
        }

        mutating func measure() {
            heard.isOpen = true
            run(.seconds(1))
            session.measure()
            run(.seconds(1))
        }

        func moved(_ milliseconds: Double) -> Command {
            .adjust(output: "drums", OutputAdjustment(shift: milliseconds))
        }
    }

    private static let result = SoundResult(
        delay: 3_150, uncertainty: 80, spread: 120, drift: 0, used: 48, rejected: 0, response: 1, offset: -3_150,
        reference: .beat, hits: [])

    @Test
    func `the level is shown for as long as somebody looks, and nothing is moved`() {
        var stage = Stage()
        stage.run(.seconds(1), hasSound: false)
        #expect(stage.report.state == .opening)
        stage.heard.isOpen = true
        stage.heard.progress = SoundCalibration(sampleRate: 48_000).progress
        stage.run(.seconds(600))
        #expect(stage.report.state == .level && stage.report.level != nil && stage.commands.isEmpty)
    }

    @Test
    func `the song begins, the clock moves, and all is put back with a result`() {
        var stage = Stage()
        stage.measure()
        #expect(stage.commands == [.setPlaying(true)])
        stage.heard.shift = 7_000
        stage.run(.seconds(1))
        #expect(stage.commands.last == stage.moved(7))
        stage.heard.shift = 0
        stage.run(.seconds(1))
        #expect(stage.commands.last == stage.moved(0))
        stage.heard.outcome = .success(Self.result)
        stage.run(.seconds(1))
        #expect(stage.commands.suffix(2) == [stage.moved(0), .setPlaying(false)])
        #expect(stage.report.state == .done && stage.report.result?.offsetMilliseconds == -3.15)
        #expect(stage.report.problem == nil)
    }

    @Test
    func `a song that plays is placed anew, and plays on`() {
        var stage = Stage()
        stage.isPlaying = true
        stage.measure()
        #expect(stage.commands == [.realign(output: "drums", .atBar)])
        stage.session.cancel()
        stage.run(.seconds(1))
        #expect(stage.commands.last == stage.moved(0) && stage.report.problem?.kind == .cancelled)
    }

    /// Whatever ends it while the clock is moved.
    @Test(arguments: ["cancel", "nobody watches", "card", "no sound", "doubt", "no beat"])
    func `clock and transport are put back however it ends`(end: String) {
        var stage = Stage()
        stage.measure()
        stage.heard.shift = 7_000
        stage.run(.seconds(1))
        #expect(stage.commands == [.setPlaying(true), stage.moved(7)])
        switch end {
        case "cancel": stage.session.cancel()
        case "nobody watches": stage.isWatched = false
        case "card":
            let error = ALSAError(operation: "snd_pcm_readi", code: -19)
            stage.heard.problem = ListeningProblem(.gone(error), of: "hw:1")
        case "doubt": stage.heard.outcome = .failure(.lost)
        default: break
        }
        stage.run(.seconds(end == "no beat" ? 15 : 11), hasSound: end != "no sound")
        #expect(stage.commands.suffix(2) == [stage.moved(0), .setPlaying(false)])
        #expect(stage.report.state == .failed)
        let message = stage.report.problem?.message ?? ""
        let told = [
            "cancel": "stopped before", "nobody watches": "nobody was watching it", "card": "hw:1 is gone",
            "no sound": "gives no sound", "doubt": "too busy", "no beat": "gets no beat",
        ]
        #expect(message.contains(told[end]!), "\(message)")
        stage.run(.seconds(100))
        #expect(stage.commands.count == 4)
    }

    /// The delays before and after would be half of the hits each, and no judge could tell.
    @Test(arguments: [false, true])
    func `a result that an offset was changed under is none, also that of the other machine`(isOther: Bool) {
        var stage = Stage()
        stage.others = [stage.output]
        stage.others[0].id = "other"
        stage.measure()
        stage.run(.seconds(1))
        #expect(stage.report.state == .waiting)
        if isOther { stage.others[0].offsetMilliseconds += 0.5 } else { stage.output.offsetMilliseconds += 0.5 }
        stage.run(.seconds(1))
        #expect(stage.report.problem?.message.contains("changed during the measurement; leave offset") == true)
        #expect(stage.commands.suffix(2) == [stage.moved(0), .setPlaying(false)])
    }

    @Test
    func `before the clock was touched nothing is put back`() {
        var stage = Stage()
        stage.heard.isOpen = true
        stage.run(.seconds(1))
        stage.isWatched = false
        stage.run(.seconds(11))
        #expect(stage.report.problem?.kind == .cancelled && stage.commands.isEmpty)
    }

    @Test
    func `a card that never opens, or says why it does not, ends it`() {
        var stage = Stage()
        stage.run(.seconds(21), hasSound: false)
        #expect(stage.report.problem?.message.contains("gives no sound") == true)
        stage = Stage()
        stage.heard.problem = ListeningProblem(.notOpened(ALSAError(operation: "snd_pcm_open", code: -16)), of: "hw:1")
        stage.run(.seconds(1), hasSound: false)
        #expect(stage.report.problem?.message.contains("another program listens to hw:1") == true)
    }

    @Test
    func `an output that cannot be measured is refused with what to set`() {
        var stage = Stage(offset: 491)
        stage.measure()
        #expect(stage.report.problem?.message.contains("set an offset of at most 490 ms first") == true)
        stage = Stage()
        stage.output.multiply = 2
        stage.measure()
        #expect(stage.report.problem?.message.contains("set multiply and divide to 1") == true)
        #expect(stage.commands.isEmpty)
    }

    @Test
    func `what could not be put back is told after what went wrong`() {
        var stage = Stage()
        stage.measure()
        stage.refused = [1, 2]
        stage.session.cancel()
        stage.run(.seconds(1))
        let message = stage.report.problem?.message ?? ""
        #expect(message.hasPrefix("stopped before there was a result; and the clock of Drums could not be put back"))
        #expect(message.contains("calibrate again") && message.hasSuffix("use 'tactus stop'"))
    }

    @Test
    func `a result whose clock could not be put back still says the offset`() {
        var stage = Stage()
        stage.measure()
        stage.refused = [1]
        stage.heard.outcome = .success(Self.result)
        stage.run(.seconds(1))
        let message = stage.report.problem?.message ?? ""
        #expect(message.hasPrefix("the offset that was found is -3.15 ms; but the clock of Drums"))
        #expect(stage.report.state == .failed)
    }

    @Test
    func `a gateway that refuses the start ends it, and nothing is put back`() {
        var stage = Stage()
        stage.refused = [0]
        stage.measure()
        #expect(stage.report.problem?.message == "busy" && stage.report.state == .failed)
        #expect(stage.commands == [.setPlaying(true)])
    }
}
