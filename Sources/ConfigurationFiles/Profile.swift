package import MIDIClock

/// How one kind of device wants to be driven, and what can be believed of it.
///
/// A profile is the defaults plus what its file changes; ``applying(_:)`` adds the user's own settings on top.
package struct Profile: Hashable, Sendable {
    /// The file's name without `.yaml`, by which users name the profile.
    package var id: String
    /// Where it was read, as the path was given; nil for one that is built into the program.
    package internal(set) var file: String?
    /// What people call the device.
    package var name: String
    /// The names of the ports it is recognised by.
    package var match: [String] = []
    /// What its sections `clock` and `transport` say, as the tick planner takes it.
    package var settings = OutputSettings()
    /// What may be heard from the device.
    package var input = Input()
    /// What is known of it, and from where.
    package var notes: [Note] = []

    /// What `realign` says; without it the best the device can do.
    var statedRealign: OutputSettings.Realign?

    /// What may be heard from a device.
    package struct Input: Hashable, Sendable {
        /// Whether its clock may be followed when Link is off: `role: leader`.
        package var isLeader = false
        /// Whether its Start and Stop buttons act as a remote control, in any mode.
        package var isRemoteControl = false
        /// Whether it copies what it receives to what it sends.
        package var echoes = false

        package init() {}
    }

    /// Something known of a device.
    package struct Note: Hashable, Sendable {
        package var fact: String
        /// Where it is from, or `unsourced`.
        package var source: String
        package var confidence: Confidence

        package init(fact: String, source: String, confidence: Confidence) {
            self.fact = fact
            self.source = source
            self.confidence = confidence
        }
    }

    /// How far a note is to be believed.
    package enum Confidence: String, CaseIterable, Hashable, Sendable {
        /// The maker's manual, or a source that was verified.
        case high
        /// Reports of users.
        case medium
        /// A single report.
        case low
    }

    /// A device of which nothing is known: everything as by default.
    package init(id: String, name: String) {
        self.id = id
        self.name = name
    }

    /// Brings a device back by the best means it has, unless the file names one.
    mutating func settleRealign() {
        let best: OutputSettings.Realign =
            settings.missingForSongPosition == nil ? .songPosition : settings.start == .none ? .none : .restart
        settings.realign = statedRealign ?? best
    }
}

extension Profile {
    /// What is allowed and yet will not do what it says, each as one clause.
    package var warnings: [String] {
        var warnings: [String] = []
        if settings.preroll > 0, settings.isClockAlwaysOn {
            warnings.append("'preroll' does nothing with 'when: always'; a device that needs it takes 'when: playing'")
        }
        // Start leaves no earlier than two fifths of the way from one pulse to the next.
        let longest = settings.lead * 5 * settings.multiply
        let highest = min(settings.tempos.highest, Self.fastestUsual)
        if 3 * 60_000_000_000 * settings.divide < longest * 24 * highest {
            let tempo = Decimal.text(3 * 60_000_000 * settings.divide / (longest * 24), decimals: 0)
            let lead = Decimal.text(settings.lead, decimals: 3)
            warnings.append("a 'lead' of \(lead) ms has room up to \(tempo) BPM; above, Start leaves later")
        }
        return warnings
    }

    /// The fastest tempo at which a profile that names no range is judged, in thousandths of a beat per minute.
    private static let fastestUsual: Int64 = 300_000
}
