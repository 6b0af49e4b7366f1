internal import ALSASequencer

/// What other machines' clocks come in by.
struct ClockEntrance: Hashable, Sendable {
    /// The port `Clock In`; nil where there is no sequencer.
    var port: PortAddress?
    /// Whether what comes at the port is stamped by the kernel; if not, other programs hold all its queues.
    var hasKernelStamps = true
    /// The raw device, if one is configured.
    var device: ClockInput.Device?
}
