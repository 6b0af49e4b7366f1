internal import ALSASequencer
internal import Essentials
internal import Glibc

extension SequencerFacts {
    static func read(_ tree: SystemTree) -> SequencerFacts {
        ALSAComplaints.capture { _ in }  // what fails says so by its error
        var facts = SequencerFacts()
        let release = tree.line("proc/sys/kernel/osrelease") ?? ""
        let lists = ["modules.dep", "modules.builtin"].compactMap { tree.text("lib/modules/\(release)/\($0)") }
        facts.module = Module(
            modules: lists.isEmpty ? nil : lists.joined(), isContainer: tree.isContainer,
            system: tree.text("etc/os-release") ?? "")
        facts.hasFineTimer = tree.text("proc/asound/timers")?.contains("HR timer") ?? false
        facts.devices = devices(tree)
        do throws(ALSAError) {
            facts.cardsWithPorts = Set(try SequencerControl(name: "Tactus Doctor").ports().compactMap(\.card?.number))
            facts.queue = SequencerFacts.Queue(try SequencerOutput(name: "Tactus Doctor").queueFailure)
        } catch {
            switch error.code {
            case -ENOENT, -ENODEV, -ENXIO: facts.access = .missing
            case -EACCES, -EPERM: facts.access = .refused
            default: facts.access = .failing(error.description)
            }
        }
        return facts
    }

    /// The kernel's raw MIDI devices, one for each card, from names such as `midiC1D0`.
    private static func devices(_ tree: SystemTree) -> [Device] {
        let cards = tree.names("sys/class/sound").compactMap { name -> Int? in
            guard name.hasPrefix("midiC") else { return nil }
            return Int(name.dropFirst("midiC".count).prefix { $0 != "D" })
        }
        return Set(cards).sorted().map { card in
            Device(card: card, name: tree.line("proc/asound/card\(card)/id") ?? "card \(card)")
        }
    }
}

extension SequencerFacts.Queue {
    init(_ failure: QueueFailure?) {
        guard let failure else {
            self = .fine
            return
        }
        if case .refused(.queue, _) = failure { self = .taken("\(failure)") } else { self = .failing("\(failure)") }
    }
}
