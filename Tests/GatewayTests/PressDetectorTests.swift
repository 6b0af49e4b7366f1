import ALSASequencer
import BeatTime
import ConfigurationFiles
import MIDIClock
import Testing

@testable import Gateway

@Suite
struct PressDetectorTests {
    /// The times of presses found among messages with their times, in milliseconds.
    private func presses(
        _ messages: [(Int64, ChannelMessage)], from ports: [Int] = [24], isLatching: Bool = false
    ) -> [Int64] {
        var detector = PressDetector()
        return messages.enumerated().compactMap { index, message in
            let arrival = ControlArrival(
                message.1, at: HostTime(microseconds: message.0 * 1_000),
                from: PortAddress(client: ports[index % ports.count], port: 0))
            guard let press = detector.press(arrival) else { return nil }
            return isLatching || press == .down ? message.0 : nil
        }
    }

    private func pedal(_ values: [(Int64, Int)]) -> [(Int64, ChannelMessage)] {
        values.map { ($0.0, ChannelMessage(.controller, 64, channel: 1, value: $0.1)) }
    }

    @Test
    func `a note is a press when it begins, a program change always`() {
        let key = [(0, 100), (200, 0), (1_000, 1), (1_100, 0)].map {
            (Int64($0.0), ChannelMessage(.note, 60, channel: 1, value: $0.1))
        }
        #expect(presses(key) == [0, 1_000])
        let program = [0, 900, 1_800].map { (Int64($0), ChannelMessage(.program, 1, channel: 1)) }
        #expect(presses(program) == [0, 900, 1_800])
    }

    @Test
    func `a pedal is a press when it rises past the middle, and not again before its release`() {
        #expect(presses(pedal([(0, 127), (300, 0), (600, 127), (900, 0)])) == [0, 600])
        #expect(
            presses(pedal([(0, 0), (10, 30), (20, 63), (30, 64), (40, 90), (500, 127), (600, 63), (700, 64)])) == [
                30, 700,
            ])
    }

    @Test
    func `a pedal that never reports its release is pressed each time`() {
        #expect(presses(pedal([(0, 127), (500, 127), (1_000, 127)])) == [0, 500, 1_000])
    }

    @Test
    func `contact bounce is one press`() {
        #expect(presses(pedal([(0, 127), (4, 0), (9, 127), (20, 0), (30, 127), (400, 0), (500, 127)])) == [0, 500])
        #expect(presses(pedal([(0, 127), (200, 0), (203, 127), (206, 0), (600, 127)])) == [0, 600])
        let key = [(0, 90), (200, 0), (203, 90), (206, 0)].map {
            (Int64($0.0), ChannelMessage(.note, 60, channel: 1, value: $0.1))
        }
        #expect(presses(key) == [0])
    }

    @Test
    func `of an alternating pedal each change is a press, its bounces are not`() {
        #expect(presses(pedal([(0, 127), (500, 0), (1_000, 127)]), isLatching: true) == [0, 500, 1_000])
        let bouncing = pedal([(0, 0), (500, 127), (503, 0), (506, 127), (1_000, 0)])
        #expect(presses(bouncing, isLatching: true) == [0, 500, 1_000])
        let pad = [(0, 90), (500, 0), (1_000, 90)].map {
            (Int64($0.0), ChannelMessage(.note, 60, channel: 1, value: $0.1))
        }
        #expect(presses(pad, isLatching: true) == [0, 500, 1_000])
    }

    @Test
    func `two programs are two presses however quickly they follow, and the same one again is bounce`() {
        let programs = [(0, 1), (10, 2), (20, 1), (30, 1), (100, 1)].map {
            (Int64($0.0), ChannelMessage(.program, $0.1, channel: 10))
        }
        #expect(presses(programs) == [0, 10, 20, 100])
    }

    @Test
    func `each button of each port is separate`() {
        let two = [(0, 1), (5, 2)].map { (Int64($0.0), ChannelMessage(.note, 60, channel: $0.1, value: 90)) }
        #expect(presses(two) == [0, 5])
        let same = [(0, 90), (5, 90)].map { (Int64($0.0), ChannelMessage(.note, 60, channel: 1, value: $0.1)) }
        #expect(presses(same, from: [24, 28]) == [0, 5])
        #expect(presses(same) == [0])
    }
}

@Suite
struct ControlTests {
    @Test
    func `a control reacts to its own message on its own channel, or on all channels`() {
        let any = Control.Message(.controller, 64)
        let third = Control.Message(.controller, 64, channel: 3)
        for channel in 1...16 {
            #expect(any.matches(ChannelMessage(.controller, 64, channel: channel, value: 0)))
            #expect(third.matches(ChannelMessage(.controller, 64, channel: channel, value: 9)) == (channel == 3))
        }
        #expect(!any.matches(ChannelMessage(.controller, 65, channel: 1, value: 127)))
        #expect(!any.matches(ChannelMessage(.note, 64, channel: 1, value: 127)))
    }

    @Test
    func `each verb is a command, and a tap has the time of the press`() {
        let time = HostTime(microseconds: 42)
        let button = BendHolder.button(port: "Pedal", .init(.note, 64))
        let expected: [Control.Verb: Command] = [
            .play: .setPlaying(true), .stop: .setPlaying(false), .togglePlay: .togglePlaying, .tap: .tap(at: time),
            .tempoUp: .stepTempo(by: 1), .tempoDown: .stepTempo(by: -1), .halfTempo: .scaleTempo(by: 0.5),
            .doubleTempo: .scaleTempo(by: 2), .undo: .undo, .tempo: .setTempo(Tempo(beatsPerMinute: 128.5)),
            .nudgeEarlier: .adjust(output: nil, OutputAdjustment(nudge: -1)),
            .nudgeLater: .adjust(output: nil, OutputAdjustment(nudge: 1)), .realign: .realign(output: nil, .atBar),
            .mute: .mute(output: nil, .toggle), .enter: .mute(output: nil, .off(afterBars: 4)),
            .countIn: .countIn(bars: 4),
            .bendFaster: .bend(output: nil, percent: 4, for: 10_000_000, by: button),
            .bendSlower: .bend(output: nil, percent: -4, for: 10_000_000, by: button),
            .toggleLink: .toggleLink, .linkOn: .enableLink(true), .linkOff: .enableLink(false),
        ]
        #expect(Set(expected.keys) == Set(Control.Verb.allCases))
        for (verb, command) in expected {
            #expect(verb.command(at: time, tempo: 128_500, bars: 4, by: button) == command)
        }
    }
}
