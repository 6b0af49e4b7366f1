import ALSASequencer
import CardOutput
import Essentials
import Glibc
import RealTime
import Testing

@testable import Gateway

@Suite
struct PortTroubleTests {
    @Test(arguments: [(-EBUSY, "close that program"), (-EAGAIN, "close that program"), (-EPERM, "restart its program")])
    func `a refused subscription says what to do about the refusal`(code: Int32, fix: String) {
        let trouble = PortTrouble(subscribing: ALSAError(operation: "snd_seq_subscribe_port", code: code))
        #expect(trouble?.fix.contains(fix) == true)
    }

    @Test
    func `a port that has just gone is simply absent`() {
        #expect(PortTrouble(subscribing: ALSAError(operation: "snd_seq_subscribe_port", code: -ENODEV)) == nil)
    }

    @Test(arguments: [
        (-ENODEV, "plug it in"), (-EBUSY, "close that program"), (-EACCES, "join the group audio"), (-EIO, "unplug it"),
    ])
    func `a raw device that cannot be read says what to do about the reason`(code: Int32, fix: String) {
        #expect(PortTrouble(reading: ALSAError(operation: "snd_rawmidi_open hw:1,0", code: code)).fix.hasPrefix(fix))
    }

    @Test(arguments: [
        (ENOENT, "correct the path"), (ENXIO, "start the program that reads it"), (EACCES, "'ls -lL /dev/midi'"),
        (EBUSY, "close that program"), (EINVAL, "raw:/dev/midi@31250"), (EIO, "plug it in again"),
    ])
    func `a line that cannot be opened says what to do about the reason`(code: Int32, fix: String) {
        let error = SystemCallError(operation: "/dev/midi", code: code)
        #expect(PortTrouble(opening: .system(error), path: "/dev/midi").fix.contains(fix))
    }

    @Test(arguments: [
        (
            CardFailure.error(ALSAError(operation: "snd_pcm_open", code: -EBUSY)),
            "another program plays on the sound card"
        ),
        (.held(CardHolder(program: "PipeWire", manner: .refuses)), "PipeWire does not let go of the sound card"),
        (.held(CardHolder(program: nil, manner: .refuses)), "another program does not let go of the sound card"),
        (.held(CardHolder(program: "PipeWire", manner: .isSilent)), "PipeWire has the sound card, and does not answer"),
    ])
    func `a sound card that is another's can be reached through the sound server, if the user wants that`(
        failure: CardFailure, reason: String
    ) {
        let trouble = PortTrouble(playingOn: "hw:CARD=ES8", channels: [3, 4], of: 8, failure)
        #expect(trouble.reason == reason && trouble.fix.contains("if the sound server plays on this card"))
        #expect(trouble.fix.hasSuffix("audio:default/3+4"))
        // That is the server already.
        #expect(!PortTrouble(playingOn: "default", channels: [1], of: 1, failure).fix.contains("audio:default"))
    }

    @Test
    func `an ordinary file is no line, and the fix says what is`() {
        let trouble = PortTrouble(opening: .notALine(path: "/tmp/x"), path: "/tmp/x")
        #expect(trouble.fix == "name a device node, FIFO or serial line after raw:")
    }

    @Test
    func `a line that a program has locked is explained by that program, and by how to end it`() {
        func trouble(_ holder: RunningProgram?) -> PortTrouble {
            PortTrouble(opening: .locked(by: holder), path: "/dev/ttyAMA0")
        }
        let other = trouble(RunningProgram(name: "tactus", process: 4711))
        #expect(other.reason.contains("'tactus' (pid 4711)") && other.fix.contains("'kill 4711'"))
        #expect(!trouble(RunningProgram(name: "tactus", process: Int(getpid()))).fix.contains("kill"))
        #expect(trouble(nil).fix.hasPrefix("close that program"))
    }
}
