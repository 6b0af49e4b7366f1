extension MachineFacts {
    /// What the facts mean, in the order in which things are best mended.
    var findings: [Finding] {
        let realTimeFix = permissions.realTimeFix
        return sequencer.findings
            + permissions.findings(opensSequencer: sequencer.access != .refused)
            + kernel.findings(hasFineQueue: sequencer.access == .open && sequencer.queue == .fine, realTimeFix)
            + [service.finding]
            + network.findings
    }
}
