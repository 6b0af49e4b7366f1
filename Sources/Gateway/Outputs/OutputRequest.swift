package import ConfigurationFiles
internal import MIDIClock

/// An output that the user asks for.
package struct OutputRequest: Hashable, Sendable {
    package var address: OutputAddress
    /// What to call it; nil for the port's own name.
    package var name: String?
    /// The profile to use; nil for the one that recognizes the device, or else the default.
    package var profile: Profile?
    /// Settings that replace those of the profile.
    package var overrides: ProfileOverrides
    /// Tempos for a device whose profile does not say.
    var tempos = TempoRange.all

    /// Whether it sends time code instead of a clock; a port may have an output of each.
    package var isTimeCode: Bool { (try? (profile ?? Profile(id: "", name: "")).applying(overrides))?.timeCode != nil }

    /// What is added to a port's name for its output of time code.
    package static let timeCodeSuffix = " time code"

    package init(
        _ address: OutputAddress, name: String? = nil, profile: Profile? = nil,
        overrides: ProfileOverrides = ProfileOverrides()
    ) {
        self.address = address
        self.name = name
        self.profile = profile
        self.overrides = overrides
    }
}

/// Where an output sends, as `--output` names it.
package enum OutputAddress: Hashable, Sendable {
    /// A sequencer port by name or a unique part of it; case-insensitive, surrounding spaces are ignored.
    case name(String)
    /// A sequencer port by number.
    case numeric(client: Int, port: Int)
    /// A sequencer port of our own that others subscribe to.
    case virtual(String)
    /// A device node, FIFO or serial line; the speed matters only for serial lines.
    case raw(path: String, bitsPerSecond: Int)

    /// The general port `Clock`, which exists unless the user switches it off.
    package static let clock = OutputAddress.virtual("Clock")
}
