package import MIDIClock
package import Pulses

/// How to drive one kind of device, and how reliable that knowledge is.
///
/// A profile is the defaults plus its file's changes; ``applying(_:)`` adds the user's own settings.
package struct Profile: Hashable, Sendable {
    /// The file's name without `.yaml`; users refer to the profile by it.
    package var id: String
    /// The path of its file; nil if it is built in.
    package internal(set) var file: String?
    /// What people call the device.
    package var name: String
    /// Names of ports by which it is recognized.
    package var match: [String] = []
    /// The sections `clock` and `transport`, as the tick planner uses them.
    package var settings = OutputSettings()
    /// The section `time-code`, as written.
    var timeCodeSection = TimeCodeSection()
    /// What each channel of a sound card carries, for machines with clock pulses; empty for MIDI.
    package internal(set) var pulses: [PulseLine] = []
    /// What 1 of a line's levels is, in hundredths of the card's full scale.
    var level: Int64 = 100
    /// What the device may send to us.
    package var input = Input()
    /// Known facts with their sources.
    package var notes: [Note] = []

    /// The value of `realign`; nil for the best method that the device supports.
    var statedRealign: OutputSettings.Realign?

    /// What a device may send to us.
    package struct Input: Hashable, Sendable {
        /// Whether its clock may be followed when Link is off: `role: leader`.
        package var isLeader = false
        /// Whether its Start and Stop buttons act as a remote control, in any mode.
        package var isRemoteControl = false
        /// Whether it passes on what it receives.
        package var echoes = false
        /// The audio periods at whose starts it sends its ticks; nil if it does not, or they are not known.
        package var period: AudioPeriod?

        package init() {}
    }

    /// A known fact about a device.
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

    /// How reliable a note is.
    package enum Confidence: String, CaseIterable, Hashable, Sendable {
        /// The maker's manual, or a verified source.
        case high
        /// Reports of users.
        case medium
        /// A single report.
        case low
    }

    /// A profile with only defaults.
    package init(id: String, name: String) {
        self.id = id
        self.name = name
    }

    /// Uses the best way to realign that the device supports, unless the file names one; a click sounds in songs only.
    mutating func settle() {
        if PulseSettings(pulses).clickCount > 0 { settings.isClockAlwaysOn = false }
        let best: OutputSettings.Realign =
            settings.missingForSongPosition == nil ? .songPosition : settings.start == .none ? .none : .restart
        settings.realign = statedRealign ?? best
    }
}

extension Profile {
    /// Settings that are allowed but will not work as written, one clause each.
    package var warnings: [String] {
        var warnings: [String] = []
        if settings.preroll > 0, settings.isClockAlwaysOn {
            warnings.append("'preroll' does nothing with 'when: always'; use 'when: playing' if the device needs it")
        }
        // Start is sent no earlier than 40 % of the way from one pulse to the next.
        let longest = settings.lead * 5 * settings.multiply
        let highest = min(settings.tempos.highest, Self.fastestUsual)
        if pulses.isEmpty, 3 * 60_000_000_000 * settings.divide < longest * 24 * highest {
            let tempo = Decimal.text(3 * 60_000_000 * settings.divide / (longest * 24), decimals: 0)
            let lead = Decimal.text(settings.lead, decimals: 3)
            warnings.append("a 'lead' of \(lead) ms is only possible up to \(tempo) BPM; above that, Start leaves late")
        }
        return warnings
    }

    /// Tempo up to which a profile without a range is checked, in thousandths of a BPM.
    private static let fastestUsual: Int64 = 300_000
}
