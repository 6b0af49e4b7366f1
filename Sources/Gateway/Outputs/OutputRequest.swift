package import ConfigurationFiles
internal import MIDIClock
internal import Pulses

/// An output that the user asks for.
package struct OutputRequest: Hashable, Sendable {
    package var destination: Destination
    /// What to call it; nil for the port's own name.
    package var name: String?
    /// The profile to use; nil for the one that recognizes the device, or else the default.
    package var profile: Profile?
    /// Settings that replace those of the profile.
    package var overrides: ProfileOverrides
    /// Tempos for a device whose profile does not say.
    var tempos = TempoRange.all
    /// Names of groups that it belongs to; a command for one of them is for all outputs in it.
    package var groups: [String]

    /// Whether it sends time code instead of a clock; a sequencer port may have an output of each.
    package let isTimeCode: Bool

    /// What is added to a port's name for its output of time code.
    package static let timeCodeSuffix = " time code"

    /// What it is called if it is given no name: like its port, which for time code may have a clock, too.
    package var usualName: String {
        switch destination {
        case .virtual: destination.name
        default: destination.name + (isTimeCode ? Self.timeCodeSuffix : "")
        }
    }

    /// Why there can be no such output, with what would be right; nil if there can.
    package var contradiction: String? {
        let lines = profile?.pulses.count ?? 0
        guard case .card(_, let channels) = destination else {
            return lines == 0
                ? nil : "profile '\(profile?.id ?? "")' sends pulses; write a port such as audio:hw:CARD=ES8/3"
        }
        guard let profile, lines > 0 else {
            return
                "a sound card needs a profile that sends pulses, such as din-sync-24; 'tactus profiles list' has them"
        }
        guard !PulseSettings.fits(profile.pulses, on: channels.count) else { return nil }
        let example = (1...lines).map(String.init).joined(separator: "+")
        return "profile '\(profile.id)' has \(lines) lines, so it takes \(lines) channels, such as /\(example)"
    }

    /// A channel of a sound card that this output and another would play on; nil if there is none.
    ///
    /// Whether different names mean one card is known only when it is opened.
    package func sharedChannel(with others: [OutputRequest]) -> Int? {
        guard case .card(let card, let channels) = destination else { return nil }
        return channels.first { channel in
            others.contains { other in
                guard case .card(let name, let taken) = other.destination else { return false }
                return name == card && taken.contains(channel)
            }
        }
    }

    package init(
        _ destination: Destination, name: String? = nil, profile: Profile? = nil,
        overrides: ProfileOverrides = ProfileOverrides(), groups: [String] = []
    ) {
        self.destination = destination
        self.name = name
        self.profile = profile
        self.overrides = overrides
        self.groups = groups
        let profile = profile ?? Profile(id: "", name: "")
        isTimeCode = ((try? profile.applying(overrides)) ?? profile).timeCode != nil
    }
}
