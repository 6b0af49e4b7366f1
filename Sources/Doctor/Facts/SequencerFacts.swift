/// What was found of the ALSA sequencer.
struct SequencerFacts {
    /// What came of opening it.
    enum Access: Hashable {
        case open
        /// There is none.
        case missing
        /// There is one, for others.
        case refused
        /// Anything else, in the system's words.
        case failing(String)
    }

    /// Where the module that is missing could come from.
    enum Module: Hashable {
        /// It only wants loading, as far as can be seen.
        case installed
        /// This kernel's modules are here, and it is not among them.
        case absent(isUbuntu: Bool)
        /// The kernel is that of the computer around this container.
        case outside
    }

    /// What came of setting up a queue that beats every 160 microseconds.
    enum Queue: Hashable {
        case fine
        /// The kernel has none left; the words say how it put that.
        case taken(String)
        /// Anything else, in words that name the step.
        case failing(String)
    }

    /// A MIDI device of the kernel's.
    struct Device: Hashable {
        var card: Int
        /// As the kernel calls the card.
        var name: String
    }

    var access = Access.open
    var module = Module.installed
    var queue = Queue.fine
    /// Whether the timer that the queue needs is there.
    var hasFineTimer = true
    var devices: [Device] = []
    /// The cards that have a sequencer port.
    var cardsWithPorts: Set<Int> = []
}

extension SequencerFacts.Module {
    /// Reads where the sequencer's module is.
    ///
    /// - Parameters:
    ///   - modules: the lists of the kernel's modules, loadable and built in; nil if there are none.
    ///   - isContainer: whether this is one.
    ///   - system: the text of `os-release`.
    init(modules: String?, isContainer: Bool, system: String) {
        if isContainer {
            self = .outside
        } else if let modules, !modules.contains("/snd-seq.ko") {
            let ids = system.split(separator: "\n").filter { $0.hasPrefix("ID=") || $0.hasPrefix("ID_LIKE=") }
            self = .absent(isUbuntu: ids.contains { $0.contains("ubuntu") })
        } else {
            self = .installed
        }
    }
}
