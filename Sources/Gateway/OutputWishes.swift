public import DeviceProfiles
public import MIDIClock

/// Which outputs the user wants.
public struct OutputWishes: Hashable, Sendable {
    /// Those that are named, besides `Clock`; at most 63.
    public var outputs: [OutputRequest] = []
    /// Whether to make the general sequencer port `Clock`.
    public var hasClockPort = true
    /// Whether devices that a profile recognises are driven without being named.
    public var connectsRecognised = true
    public var library = ProfileLibrary()
    /// The tempos that devices take whose profiles do not say.
    public var tempos = TempoRange.all

    public init() {}

    /// The outputs that are always there, the general one first.
    var requests: [OutputRequest] {
        let clock = hasClockPort ? [OutputRequest(.clock)] : []
        return (clock + outputs).map { request in
            var request = request
            request.tempos = tempos
            return request
        }
    }

    /// Whether any of it is on the sequencer.
    var needsSequencer: Bool {
        hasClockPort || connectsRecognised
            || outputs.contains { if case .raw = $0.address { false } else { true } }
    }
}
