package import ConfigurationFiles
internal import MIDIClock

/// An output that the user asks for.
package struct OutputRequest: Hashable, Sendable {
    package var address: OutputAddress
    /// How its device wants to be told; nil for the profile that recognises it, or else the standard.
    package var profile: Profile?
    /// What is to be otherwise than the profile says.
    package var overrides: ProfileOverrides
    /// The tempos that a device takes whose profile does not say.
    var tempos = TempoRange.all
    /// What the session's tempo is folded into, as far as the device takes it.
    var fold: TempoRange?

    package init(_ address: OutputAddress, profile: Profile? = nil, overrides: ProfileOverrides = ProfileOverrides()) {
        self.address = address
        self.profile = profile
        self.overrides = overrides
    }
}

/// Where an output's bytes go, as `--output` names it.
package enum OutputAddress: Hashable, Sendable {
    /// A sequencer port by name or a unique part of it; case and surrounding spaces do not count.
    case name(String)
    /// A sequencer port by number.
    case numeric(client: Int, port: Int)
    /// A sequencer port of our own that others subscribe to.
    case virtual(String)
    /// A device node, FIFO or serial line; the rate matters to serial lines only.
    case raw(path: String, bitsPerSecond: Int)

    /// The general port, which is there without being named.
    package static let clock = OutputAddress.virtual("Clock")
}
