import Testing

@testable import Doctor

@Suite
struct SequencerJudgementTests {
    @Test
    func `a sequencer that opens and beats finely is fine`() {
        let findings = SequencerFacts().findings
        #expect(findings.map(\.code) == [.sequencer, .midiDevices, .queueTimer])
        #expect(findings.allSatisfy { $0.level == .ok && $0.fix == nil })
    }

    @Test(arguments: [
        (SequencerFacts.Module.installed, "sudo modprobe snd-seq && echo snd-seq | sudo tee -a"),
        (.absent(isUbuntu: true), "sudo apt install linux-modules-extra-$(uname -r) && sudo modprobe snd-seq"),
        (
            .absent(isUbuntu: false),
            "sudo apt install linux-image-$(dpkg --print-architecture) # this kernel has no sound"
        ),
        (.outside, "on the computer around this container"),
    ])
    func `without a sequencer the fix is where its module is`(module: SequencerFacts.Module, fix: String) {
        let findings = SequencerFacts(access: .missing, module: module).findings
        #expect(findings.map(\.code) == [.sequencer], "nothing else can be told then")
        #expect(findings[0].level == .problem)
        #expect(findings[0].fix?.contains(fix) == true)
    }

    @Test
    func `a sequencer for others is a matter of the group audio`() {
        let finding = SequencerFacts(access: .refused).findings[0]
        #expect(finding.level == .problem)
        #expect(finding.fix == "sudo usermod -aG audio $USER # then log out and in again")
    }

    @Test
    func `any other trouble is told in the system's words`() {
        let finding = SequencerFacts(access: .failing("snd_seq_open: Too many open files")).findings[0]
        #expect(finding.level == .problem)
        #expect(finding.found.hasSuffix("snd_seq_open: Too many open files"))
    }

    @Test
    func `devices without ports are named, the others are not`() {
        let devices = [SequencerFacts.Device(card: 1, name: "TR8S"), .init(card: 2, name: "UM1")]
        let finding = SequencerFacts(devices: devices, cardsWithPorts: [2]).findings[1]
        #expect(finding.level == .warning)
        #expect(finding.found == "no sequencer port for TR8S")
        #expect(finding.fix?.hasPrefix("sudo modprobe snd-seq-midi &&") == true)
        let fine = SequencerFacts(devices: devices, cardsWithPorts: [1, 2]).findings[1]
        #expect(fine.level == .ok)
        #expect(fine.found == "TR8S, UM1: all have sequencer ports")
    }

    @Test
    func `a coarse queue wants the timer loaded, or else a queue set free`() {
        let untimed = SequencerFacts(hasFineQueue: false, hasFineTimer: false).findings[2]
        #expect(untimed.level == .warning)
        #expect(untimed.fix?.hasPrefix("sudo modprobe snd-hrtimer &&") == true)
        let held = SequencerFacts(hasFineQueue: false, hasFineTimer: true).findings[2]
        #expect(held.level == .warning)
        #expect(held.fix?.contains("cat /proc/asound/seq/queues") == true)
    }
}
