import Testing

@testable import Doctor

@Suite
struct SequencerJudgementTests {
    @Test
    func `a sequencer that opens with a precise queue is fine`() {
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
        (.outside, "on the host"),
    ])
    func `without a sequencer the fix depends on where its module is`(module: SequencerFacts.Module, fix: String) {
        let findings = SequencerFacts(access: .missing, module: module).findings
        #expect(findings.map(\.code) == [.sequencer], "nothing else can be told then")
        #expect(findings[0].level == .problem)
        #expect(findings[0].fix?.contains(fix) == true)
    }

    @Test
    func `a sequencer without permission is fixed by the group audio`() {
        let finding = SequencerFacts(access: .refused).findings[0]
        #expect(finding.level == .problem)
        #expect(finding.fix == "sudo usermod -aG audio $USER # then log out and in again")
    }

    @Test
    func `any other problem is reported in the system's words`() {
        let finding = SequencerFacts(access: .failing("snd_seq_open: Too many open files")).findings[0]
        #expect(finding.level == .problem)
        #expect(finding.found.hasSuffix("snd_seq_open: Too many open files"))
    }

    @Test
    func `only devices without ports are named`() {
        let devices = [SequencerFacts.Device(card: 1, name: "TR8S"), .init(card: 2, name: "UM1")]
        let finding = SequencerFacts(devices: devices, cardsWithPorts: [2]).findings[1]
        #expect(finding.level == .warning)
        #expect(finding.found == "no sequencer port for TR8S")
        #expect(finding.fix?.hasPrefix("sudo modprobe snd-seq-midi &&") == true)
        let fine = SequencerFacts(devices: devices, cardsWithPorts: [1, 2]).findings[1]
        #expect(fine.level == .ok)
        #expect(fine.found == "TR8S, UM1: all have sequencer ports")
    }

    @Test(arguments: [
        (
            SequencerFacts.Queue.failing("its period is 4000 us instead of 160 us"), false,
            "sudo modprobe snd-hrtimer &&"
        ),
        (.taken("allocating a queue failed"), true, "cat /proc/asound/seq/queues"),
        (.taken("allocating a queue failed"), false, "cat /proc/asound/seq/queues"),
        (.failing("making a port failed, snd_seq_create_port: Invalid argument"), true, "uname -r"),
    ])
    func `a queue that cannot be used is told with the step that failed, and only a lack of queues blames programs`(
        queue: SequencerFacts.Queue, hasFineTimer: Bool, fix: String
    ) throws {
        let finding = SequencerFacts(queue: queue, hasFineTimer: hasFineTimer).findings[2]
        let words =
            switch queue {
            case .fine: ""
            case .taken(let words), .failing(let words): words
            }
        #expect(finding.code == .queueTimer && finding.level == .warning)
        #expect(finding.found.hasSuffix(words))
        #expect(finding.fix?.hasPrefix(fix) == true)
    }
}
