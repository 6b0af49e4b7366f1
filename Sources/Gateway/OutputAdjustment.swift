internal import MIDIClock

/// What to change of an output's settings; nil leaves a setting as it is.
public struct OutputAdjustment: Hashable, Sendable {
    /// Milliseconds; negative sends earlier.
    public var offset: Double?
    /// Pulses for each tick.
    public var multiply: Int?
    /// Ticks for each pulse.
    public var divide: Int?
    /// Where the second sixteenth of an eighth falls, in percent.
    public var swing: Double?

    public static let offsets = units(OutputSettings.offsets, of: 1_000)
    public static let multipliers =
        Int(OutputSettings.multipliers.lowerBound)...Int(OutputSettings.multipliers.upperBound)
    public static let divisors = Int(OutputSettings.divisors.lowerBound)...Int(OutputSettings.divisors.upperBound)
    public static let swings = units(OutputSettings.swings, of: 10)

    private static func units(_ range: ClosedRange<Int64>, of size: Double) -> ClosedRange<Double> {
        Double(range.lowerBound) / size...Double(range.upperBound) / size
    }

    public init(offset: Double? = nil, multiply: Int? = nil, divide: Int? = nil, swing: Double? = nil) {
        self.offset = offset
        self.multiply = multiply
        self.divide = divide
        self.swing = swing
    }

    /// Makes the change; what lies outside the ranges above is for the caller to refuse.
    func apply(to settings: inout OutputSettings) {
        if let offset { settings.offset = Int64((offset * 1_000).rounded()) }
        if let multiply { settings.multiply = Int64(multiply) }
        if let divide { settings.divide = Int64(divide) }
        if let swing { settings.swing = Int64((swing * 10).rounded()) }
    }
}
