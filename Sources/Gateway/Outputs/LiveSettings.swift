internal import MIDIClock

/// What has been changed of an output's settings while it runs.
struct LiveSettings: Hashable, Sendable {
    /// What was set in this run or an earlier one, and is saved for the next.
    var kept = KeptOutput()
    /// What a calibration adds to the offset, in microseconds; it ends by itself, so it is neither saved nor undone.
    private var shift: Int64 = 0

    /// Takes a command's change; the caller must reject values outside those of ``CommandRange``.
    ///
    /// - Parameters:
    ///   - change: the newer one.
    ///   - configured: the settings by profile and configuration.
    ///   - present: the present offset in microseconds, which a nudge adds to.
    mutating func take(_ change: OutputAdjustment, over configured: OutputSettings, from present: Int64) {
        if change.resetsOffset { kept.offset = nil }
        if change.offset != nil || change.nudge != nil {
            let new = (change.offset.map(microseconds) ?? present) + microseconds(change.nudge ?? 0)
            kept.offset = Replacement(new, insteadOf: configured.offset)
        }
        if let multiply = change.multiply {
            kept.multiply = Replacement(Int64(multiply), insteadOf: configured.multiply)
        }
        if let divide = change.divide { kept.divide = Replacement(Int64(divide), insteadOf: configured.divide) }
        if let swing = change.swing {
            kept.swing = Replacement(Int64((swing * 10).rounded()), insteadOf: configured.swing)
        }
        if let tempos = change.range.flatMap(TempoRange.init) {
            kept.tempos = Replacement(tempos, insteadOf: configured.tempos)
        }
        if let isEnabled = change.isEnabled { kept.isOff = !isEnabled }
        shift = change.shift.map(microseconds) ?? shift
    }

    /// Merges the layers.
    ///
    /// - Parameter configured: the settings by profile and configuration.
    /// - Returns: all settings, and the offset without a calibration's shift, in microseconds.
    func over(_ configured: OutputSettings) -> (settings: OutputSettings, offset: Int64) {
        var settings = configured
        settings.multiply = kept.multiply?.value(over: configured.multiply) ?? configured.multiply
        settings.divide = kept.divide?.value(over: configured.divide) ?? configured.divide
        settings.swing = kept.swing?.value(over: configured.swing) ?? configured.swing
        settings.tempos = kept.tempos?.value(over: configured.tempos) ?? configured.tempos
        let offset = kept.offset?.value(over: configured.offset) ?? configured.offset
        let limits = OutputSettings.offsets
        settings.offset = min(max(offset + shift, limits.lowerBound), limits.upperBound)
        return (settings, offset)
    }
}

/// Whole microseconds, so that small nudges add up exactly.
func microseconds(_ milliseconds: Double) -> Int64 { Int64((milliseconds * 1_000).rounded()) }
