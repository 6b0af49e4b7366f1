/// Facts about the ALSA sequencer.
struct SequencerFacts {
    /// The result of opening it.
    enum Access: Hashable {
        case open
        /// There is no sequencer.
        case missing
        /// This user may not use it.
        case refused
        /// Any other error, in the system's words.
        case failing(String)
    }

    /// Where a missing module can be found.
    enum Module: Hashable {
        /// It probably only has to be loaded.
        case installed
        /// This kernel's modules are here, and it is not among them.
        case absent(isUbuntu: Bool)
        /// The kernel belongs to the computer that runs this container.
        case outside
    }

    /// The result of setting up a queue with a period of 160 microseconds.
    enum Queue: Hashable {
        case fine
        /// No queue is free; holds the kernel's message.
        case taken(String)
        /// Any other error, with the name of the step.
        case failing(String)
    }

    /// A MIDI device known to the kernel.
    struct Device: Hashable {
        var card: Int
        /// The card's name in the kernel.
        var name: String
    }

    var access = Access.open
    var module = Module.installed
    var queue = Queue.fine
    /// Whether the timer for the queue exists.
    var hasFineTimer = true
    var devices: [Device] = []
    /// The cards with a sequencer port.
    var cardsWithPorts: Set<Int> = []
}

extension SequencerFacts.Module {
    /// Finds the sequencer's module.
    ///
    /// - Parameters:
    ///   - modules: the lists of loadable and built-in modules; nil if there are none.
    ///   - isContainer: whether this is a container.
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
