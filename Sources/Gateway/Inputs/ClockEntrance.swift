internal import ALSASequencer

/// The port and the device through which other machines' clocks are received.
struct ClockEntrance: Hashable, Sendable {
    /// The port `Clock In`; nil where there is no sequencer.
    var port: PortAddress?
    /// Whether the kernel stamps messages at the port; if not, other programs hold all its queues.
    var hasKernelStamps = true
    /// The raw device, if one is configured.
    var device: ClockInput.Device?
}
