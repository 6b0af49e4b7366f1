extension MachineFacts {
    /// The findings, in the order in which to fix them.
    var findings: [Finding] {
        let realTimeFix = permissions.realTimeFix
        return sequencer.findings
            + permissions.findings(opensSequencer: sequencer.access != .refused)
            + kernel.findings(hasFineQueue: sequencer.access == .open && sequencer.queue == .fine, realTimeFix)
            + [service.finding]
            + network.findings
    }
}
