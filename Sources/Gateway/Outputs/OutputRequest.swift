package import ConfigurationFiles
internal import MIDIClock

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
