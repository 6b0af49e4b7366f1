internal import MIDIClock

/// What has been changed of an output's settings while it runs, in the units of `OutputSettings`; nil leaves a setting as
/// profile and configuration have it.
struct LiveSettings: Hashable, Sendable {
    /// In microseconds, set in this run or an earlier one.
    var offset: Replacement<Int64>?
    private var multiply: Int64?
    private var divide: Int64?
    private var swing: Int64?
    private var tempos: TempoRange?
    /// What a calibration adds to the offset, in microseconds; it ends by itself.
    private var shift: Int64 = 0

    /// Without a calibration's shift, which is no setting and is not undone.
    var withoutShift: LiveSettings { LiveSettings().replaced(by: self) }

    /// Other settings, with the present shift.
    func replaced(by other: LiveSettings) -> LiveSettings {
        var all = other
        all.shift = shift
        return all
    }

    /// Takes a command's change; the caller must reject values outside those of ``CommandRange``.
    ///
    /// - Parameters:
    ///   - change: the newer one.
    ///   - configured: the offset by profile and configuration.
    ///   - present: the present offset, which a nudge adds to.
    mutating func take(_ change: OutputAdjustment, over configured: Int64, from present: Int64) {
        if change.resetsOffset { offset = nil }
        if change.offset != nil || change.nudge != nil {
            let new = (change.offset.map(microseconds) ?? present) + microseconds(change.nudge ?? 0)
            offset = Replacement(new, insteadOf: configured)
        }
        multiply = change.multiply.map(Int64.init) ?? multiply
        divide = change.divide.map(Int64.init) ?? divide
        swing = change.swing.map { Int64(($0 * 10).rounded()) } ?? swing
        tempos = change.range.flatMap(TempoRange.init) ?? tempos
        shift = change.shift.map(microseconds) ?? shift
    }

    /// Merges the layers.
    ///
    /// - Parameter configured: the settings by profile and configuration.
    /// - Returns: all settings, and the offset without a calibration's shift, in microseconds.
    func over(_ configured: OutputSettings) -> (settings: OutputSettings, offset: Int64) {
        var settings = configured
        settings.multiply = multiply ?? settings.multiply
        settings.divide = divide ?? settings.divide
        settings.swing = swing ?? settings.swing
        settings.tempos = tempos ?? settings.tempos
        let offset = offset?.value(over: configured.offset) ?? configured.offset
        let limits = OutputSettings.offsets
        settings.offset = min(max(offset + shift, limits.lowerBound), limits.upperBound)
        return (settings, offset)
    }
}

/// Whole microseconds, so that small nudges add up exactly.
func microseconds(_ milliseconds: Double) -> Int64 { Int64((milliseconds * 1_000).rounded()) }

extension TempoRange {
    fileprivate init?(_ beatsPerMinute: ClosedRange<Double>) {
        self.init(
            lowest: Int64((beatsPerMinute.lowerBound * 1_000).rounded()),
            highest: Int64((beatsPerMinute.upperBound * 1_000).rounded()))
    }
}
