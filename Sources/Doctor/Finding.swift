/// A result of the examination, with its fix.
package struct Finding: Hashable, Sendable {
    /// The subject; these names never change, because scripts use them.
    package enum Code: String, Sendable, CaseIterable {
        case sequencer
        case midiDevices = "midi-devices"
        case queueTimer = "queue-timer"
        case realTime = "realtime"
        case lockedMemory = "locked-memory"
        case audioGroup = "audio-group"
        case preemption
        case governor
        case wakeUp = "wake-up"
        case service
        case networks
        case multicast
        case wifiPowerSave = "wifi-power-save"
        case linkPort = "link-port"
        case linkPeers = "link-peers"
        case token
    }

    /// How it is.
    package enum Level: Int, Sendable, Comparable {
        case ok
        /// It works, but could be better.
        case warning
        /// Something does not work.
        case problem

        package var name: String {
            switch self {
            case .ok: "ok"
            case .warning: "warning"
            case .problem: "problem"
            }
        }

        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    package var code: Code
    /// Which of several, such as a network's name; nil if there is only one.
    package var subject: String?
    package var level: Level
    /// What was found.
    package var text: FindingText
    /// The command that fixes it, or what to do without a command; nil if all is well.
    package var fix: String?

    /// What was found, names included.
    package var found: String { text.whole }

    /// Findings about the token that requests must show; the caller has read its file.
    ///
    /// - Parameters:
    ///   - file: its path.
    ///   - weaknesses: what is wrong with it, each with its fix.
    /// - Returns: at least one.
    package static func token(in file: String, _ weaknesses: [(found: String, fix: String)]) -> [Finding] {
        // A weakness names the file, so it counts as a name altogether.
        if weaknesses.isEmpty { return [.ok(.token, "the token in \(file) is long enough, and kept from others")] }
        return weaknesses.map { .warning(.token, "\($0.found)", fix: $0.fix) }
    }

    static func ok(_ code: Code, of subject: String? = nil, _ text: FindingText) -> Finding {
        Finding(code: code, subject: subject, level: .ok, text: text, fix: nil)
    }

    static func warning(_ code: Code, of subject: String? = nil, _ text: FindingText, fix: String) -> Finding {
        Finding(code: code, subject: subject, level: .warning, text: text, fix: fix)
    }

    static func problem(_ code: Code, of subject: String? = nil, _ text: FindingText, fix: String) -> Finding {
        Finding(code: code, subject: subject, level: .problem, text: text, fix: fix)
    }
}

extension Finding.Code {
    /// Why it matters to a musician.
    package var why: String {
        switch self {
        case .sequencer:
            "Tactus reaches MIDI devices and other programs through it; without it only raw lines work"
        case .midiDevices: "a device is driven through its sequencer port; without one only its raw line can be used"
        case .queueTimer: "it sends a tick on time when the computer is too busy to let the clock's own thread run"
        case .realTime: "without it any busy program can delay ticks, and the tempo audibly wavers"
        case .lockedMemory: "memory that was moved to the disk takes milliseconds to come back, and ticks wait for it"
        case .audioGroup: "the system lets its members use MIDI devices and real-time priority"
        case .preemption: "it decides how long other programs can hold up the clock"
        case .governor: "a processor that saves power takes longer to wake, and ticks wait for it"
        case .wakeUp: "ticks leave this late whenever the sequencer's queue cannot send them instead"
        case .service: "a service gets its permissions from systemd, not from the user who logs in"
        case .networks: "Link reaches the programs on these networks, and no others"
        case .multicast: "Link programs find one another by it; without it they do not see each other"
        case .wifiPowerSave: "Wi-Fi that sleeps gets messages late: peers come and go, and the beat is less exact"
        case .linkPort: "Link programs on one computer share this port; a program that does not share it shuts them out"
        case .linkPeers: "Tactus can only play in time with the Link programs that it hears"
        case .token: "whoever has it can play, stop and reconfigure this gateway from the network"
        }
    }
}
