import ALSASequencer
import BeatTime
import MIDIClock
import Testing

@testable import tactus

@Suite
struct PressLearningTests {
    /// What is learnt of messages with their times in milliseconds, and when.
    private func learn(
        _ messages: [(Int64, Int)], of kind: ChannelMessage.Kind = .controller
    ) -> (isLatching: Bool?, at: Int64, asked: Bool) {
        var (learning, asked) = (PressLearning(), false)
        for millisecond in Int64(0)..<20_000 {
            let time = HostTime(microseconds: millisecond * 1_000)
            for (_, value) in messages.filter({ $0.0 == millisecond }) {
                let message = ChannelMessage(kind, 64, channel: 1, value: value)
                learning.take(ControlArrival(message, at: time, from: PortAddress(client: 40, port: 0)))
            }
            learning.timePassed(to: time)
            asked = asked || learning.asksAgain
            if let learnt = learning.learnt { return (learnt.isLatching, millisecond, asked) }
        }
        return (nil, 20_000, asked)
    }

    @Test(arguments: [
        [(10, 127), (210, 0)], [(10, 127), (13, 0), (16, 127), (300, 0)], [(10, 127), (300, 0), (303, 127), (306, 0)],
        [(10, 127), (11, 0)],
    ])
    func `a pedal that reports its release is learnt at once`(messages: [(Int64, Int)]) {
        let (isLatching, time, asked) = learn(messages)
        #expect(isLatching == false && time < 400 && !asked)
    }

    @Test
    func `one that alternates is pressed again, and learnt as latching`() {
        #expect(learn([(10, 127), (3_000, 0)]).isLatching == true)
        #expect(learn([(10, 0), (2_000, 127), (5_000, 0)]).isLatching == true)
        #expect(learn([(10, 90), (3_000, 0)], of: .note).isLatching == true)
        #expect(learn([(10, 127), (3_000, 0)]).asked)
    }

    @Test
    func `one that was held, or that reports no release, does not alternate`() {
        #expect(learn([(10, 127), (1_800, 0), (2_600, 127)]).isLatching == false)
        #expect(learn([(10, 127), (2_600, 127)]).isLatching == false)
        let silent = learn([(10, 127)])
        #expect(silent.isLatching == false && silent.asked && silent.at < 8_000)
    }

    @Test
    func `a program change is learnt at once, and what another control sends changes nothing`() {
        #expect(learn([(10, 127)], of: .program).at == 10)
        var learning = PressLearning()
        func take(_ number: Int, _ value: Int, _ millisecond: Int64) {
            learning.take(
                ControlArrival(
                    ChannelMessage(.controller, number, channel: 1, value: value),
                    at: HostTime(microseconds: millisecond * 1_000), from: PortAddress(client: 40, port: 0)))
        }
        take(64, 127, 10)
        take(11, 0, 100)
        take(11, 127, 200)
        take(64, 0, 300)
        learning.timePassed(to: HostTime(microseconds: 400_000))
        #expect(learning.learnt?.press.message.number == 64)
    }
}
