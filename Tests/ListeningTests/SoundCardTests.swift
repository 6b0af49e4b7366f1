import ALSASequencer
import AudioCapture
import Gateway
import Listening
import Testing

@Suite
struct SoundCardTests {
    @Test(arguments: [-13, -16, -22, -2] as [Int32])
    func `a card that cannot be opened is reported with advice`(code: Int32) {
        let problem = ListeningProblem(.notOpened(ALSAError(operation: "snd_pcm_open", code: code)), of: "hw:1,0")
        let advice: [Int32: String] = [
            -13: "join the group audio", -16: "name 'default'", -22: "choose a channel that it has", -2: "'arecord -l'",
        ]
        #expect(problem.message.contains(advice[code]!) && problem.message.contains("hw:1,0"))
        #expect((problem.kind == .noPermission) == (code == -13))
    }

    @Test
    func `only plain names of cards are accepted`() {
        func refusal(_ device: String) -> String? {
            do throws(ListeningProblem) {
                try ListeningRequest(output: "drums", device: device).check()
                return nil
            } catch {
                return error.message
            }
        }
        for device in ["hw:1", "hw:CARD=TR8S,DEV=1", "plughw:1", "default", "pipewire", "dsnoop:1", "my_card"] {
            #expect(refusal(device) == nil, "\(device)")
        }
        for device in [
            "", "tee:hw:1,/home/me/.profile", "file:/tmp/x", "hw:1,{type file}", "{type null}", "plug:'tee:x'", "a b",
            "hw:", "hw:1\n", "../x", "dsnoop:1,$(x)",
        ] {
            #expect(refusal(device)?.contains("name a sound card") == true, "\(device)")
        }
    }

    @Test
    func `the same channel twice, or a latency beside a second channel, is refused`() {
        #expect(throws: ListeningProblem.self) {
            try ListeningRequest(output: "drums", device: "hw:1", channel: 2, against: 2).check()
        }
        #expect(throws: ListeningProblem.self) {
            try ListeningRequest(output: "drums", device: "hw:1", against: 2, inputLatency: 3).check()
        }
    }

    @Test
    func `an offset that no output can have is refused`() {
        #expect(throws: ListeningProblem.self) { try ListeningRoom.checkOffset(-500.5) }
        #expect(throws: Never.self) { try ListeningRoom.checkOffset(-500) }
    }
}
