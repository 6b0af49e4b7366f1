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
                .sequencer, "/dev/snd/seq is there, but this user may not use it",
                fix: "sudo usermod -aG audio $USER # then log out and in again")
        case .failing(let words):
            .problem(
                .sequencer, "the ALSA sequencer cannot be used: \(known: words)",
                fix: "sudo modprobe -r snd-seq && sudo modprobe snd-seq # or restart")
        }
    }

    /// Command to load a kernel module, now and at each boot.
    private static func loading(_ module: String) -> String {
        "sudo modprobe \(module) && echo \(module) | sudo tee -a /etc/modules-load.d/tactus.conf"
    }

    private var moduleFix: String {
        switch module {
        case .installed:
            Self.loading("snd-seq")
        case .absent(isUbuntu: true): "sudo apt install linux-modules-extra-$(uname -r) && sudo modprobe snd-seq"
        case .absent(isUbuntu: false):
            "sudo apt install linux-image-$(dpkg --print-architecture) # this kernel has no sound; then restart with "
                + "the new one"
        case .outside:
            "sudo modprobe snd-seq # on the host; then start this container with --device /dev/snd"
        }
    }

    private var devicesFinding: Finding {
        let without = devices.filter { !cardsWithPorts.contains($0.card) }.map(\.name)
        guard without.isEmpty else {
            return .warning(
                .midiDevices, "no sequencer port for \(without.joined(separator: ", "))",
                fix: Self.loading("snd-seq-midi"))
        }
        let names = devices.map(\.name).joined(separator: ", ")
        return .ok(.midiDevices, devices.isEmpty ? "none is connected" : "\(names): all have sequencer ports")
    }

    private var queueFinding: Finding {
        switch queue {
        case .fine: .ok(.queueTimer, "the sequencer's queue runs with a period of 160 us")
        case .taken(let words):
            .warning(
                .queueTimer, "the sequencer gives no queue: \(known: words)",
                fix: "cat /proc/asound/seq/queues # shows which programs hold queues; end one that needs none")
        case .failing(let words) where !hasFineTimer:
            .warning(
                .queueTimer, "the sequencer's queues have no high-resolution timer: \(known: words)",
                fix: Self.loading("snd-hrtimer"))
        case .failing(let words):
            .warning(
                .queueTimer, "the sequencer's queue cannot be used: \(known: words)",
                fix: "uname -r # report its output together with this finding; meanwhile ticks leave without a queue")
        }
    }
}
