extension SequencerFacts {
    var findings: [Finding] {
        guard access == .open else { return [accessFinding] }
        return [accessFinding, devicesFinding, queueFinding]
    }

    private var accessFinding: Finding {
        switch access {
        case .open: .ok(.sequencer, "/dev/snd/seq is there and can be used")
        case .missing: .problem(.sequencer, "there is no ALSA sequencer", fix: moduleFix)
        case .refused:
            .problem(
                .sequencer, "/dev/snd/seq is there, but not for this user",
                fix: "sudo usermod -aG audio $USER, then log out and in again")
        case .failing(let words):
            .problem(
                .sequencer, "the ALSA sequencer cannot be used: \(words)",
                fix: "sudo modprobe -r snd-seq && sudo modprobe snd-seq; if that is refused, restart")
        }
    }

    private var moduleFix: String {
        switch module {
        case .installed:
            "sudo modprobe snd-seq; for good: echo snd-seq | sudo tee /etc/modules-load.d/tactus.conf"
        case .absent(isUbuntu: true): "sudo apt install linux-modules-extra-$(uname -r) && sudo modprobe snd-seq"
        case .absent(isUbuntu: false):
            "this kernel comes without sound: sudo apt install linux-image-$(dpkg --print-architecture), then restart"
        case .outside:
            "sudo modprobe snd-seq on the computer around this container; then start it with --device /dev/snd"
        }
    }

    private var devicesFinding: Finding {
        let without = devices.filter { !cardsWithPorts.contains($0.card) }.map(\.name)
        guard without.isEmpty else {
            return .warning(
                .midiDevices, "no sequencer port for \(without.joined(separator: ", "))",
                fix: "sudo modprobe snd-seq-midi; for good: echo snd-seq-midi | sudo tee -a "
                    + "/etc/modules-load.d/tactus.conf")
        }
        let names = devices.map(\.name).joined(separator: ", ")
        return .ok(.midiDevices, devices.isEmpty ? "none is connected" : "\(names): all have sequencer ports")
    }

    private var queueFinding: Finding {
        if hasFineQueue { return .ok(.queueTimer, "a queue of the sequencer beats every 160 us") }
        guard hasFineTimer else {
            return .warning(
                .queueTimer, "the sequencer's queues have no high-resolution timer",
                fix: "sudo modprobe snd-hrtimer; for good: echo snd-hrtimer | sudo tee -a "
                    + "/etc/modules-load.d/tactus.conf")
        }
        return .warning(
            .queueTimer, "the sequencer gives no queue that beats every 160 us",
            fix: "see who holds the queues with 'cat /proc/asound/seq/queues', and end a program that needs none")
    }
}
