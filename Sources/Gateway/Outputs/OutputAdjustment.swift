/// A command's change of an output's settings, in the units that people use; nil leaves a setting as it is.
package struct OutputAdjustment: Hashable, Sendable {
    /// Offset in milliseconds; negative sends earlier.
    package var offset: Double?
    /// Added to the offset, in milliseconds; the sum must stay within ``CommandRange/offset``.
    package var nudge: Double?
    /// Whether the offset goes back to the configured one, which need not be 0.
    package var resetsOffset = false
    /// Pulses per tick.
    package var multiply: Int?
    /// Ticks per pulse.
    package var divide: Int?
    /// Position of the second sixteenth of an eighth, in percent; 50 is straight.
    package var swing: Double?
    /// Tempos the device accepts, in BPM; the upper is at least twice the lower.
    package var range: ClosedRange<Double>?
    /// Whether the output sends.
    package var isEnabled: Bool?
    /// Seconds for which ticks are marked; 0 ends it.
    ///
    /// A marked tick leaves up to 1 % of a tick early or late, at random, so that a calibration recognizes it when it
    /// comes back.
    package var markSeconds: Int?
    /// Milliseconds by which ticks are sent later, in addition to the offset; it is not saved or shown.
    ///
    /// A calibration moves the clock by it to check whether the sound follows, and then sets it to 0 again.
    package var shift: Double?

    package init(
        offset: Double? = nil, nudge: Double? = nil, resetsOffset: Bool = false, multiply: Int? = nil,
        divide: Int? = nil, swing: Double? = nil, range: ClosedRange<Double>? = nil, isEnabled: Bool? = nil,
        markSeconds: Int? = nil, shift: Double? = nil
    ) {
        self.offset = offset
        self.nudge = nudge
        self.resetsOffset = resetsOffset
        self.multiply = multiply
        self.divide = divide
        self.swing = swing
        self.range = range
        self.isEnabled = isEnabled
        self.markSeconds = markSeconds
        self.shift = shift
    }

    /// The settings it changes, by name and in a fixed order; not the marks and the shift, which end by themselves.
    var settings: [String] {
        let changes = [
            ("offset", offset != nil || nudge != nil || resetsOffset), ("multiply", multiply != nil),
            ("divide", divide != nil), ("swing", swing != nil), ("tempo range", range != nil),
            ("switch", isEnabled != nil),
        ]
        return changes.filter(\.1).map(\.0)
    }

    /// Whether it changes something that only a clock has.
    var isOfClock: Bool {
        multiply != nil || divide != nil || swing != nil || range != nil || markSeconds != nil
    }

}
