package import ConfigurationFiles
package import MIDIClock

/// The outputs that the user wants.
package struct OutputConfiguration: Hashable, Sendable {
    /// The named ones, in addition to `Clock`; at most 63.
    package var outputs: [OutputRequest] = []
    /// Whether to create the general sequencer port `Clock`.
    package var hasClockPort = true
    /// Whether recognized devices are driven without being named.
    package var connectsRecognised = true
    package var library = ProfileLibrary()
    /// Tempos for devices whose profile does not say.
    package var tempos = TempoRange.all

    package init() {}

    /// All configured outputs, the general one first.
    var requests: [OutputRequest] {
        let clock = hasClockPort ? [OutputRequest(.clock)] : []
        return (clock + outputs).map { request in
            var request = request
            fit(&request)
            return request
        }
    }

    /// Adds the settings that apply to all outputs.
    func fit(_ request: inout OutputRequest) { request.tempos = tempos }

    /// Whether any output needs the sequencer.
    var needsSequencer: Bool {
        hasClockPort || connectsRecognised
            || outputs.contains(where: \.destination.needsSequencer)
    }
}
