internal import MIDIClock

/// What has been changed of an output's settings while it runs, saved for the next run.
///
/// The units are those of `OutputSettings`; nil leaves a setting as profile and configuration have it.
struct KeptOutput: Hashable, Sendable {
    /// In microseconds.
    var offset: Replacement<Int64>?
    var multiply: Replacement<Int64>?
    var divide: Replacement<Int64>?
    var swing: Replacement<Int64>?
    var tempos: Replacement<TempoRange>?
    /// Whether it was switched off; no configuration does that.
    var isOff = false

    /// The same without the offset; nil if there is nothing else.
    var besidesOffset: KeptOutput? {
        var others = self
        others.offset = nil
        return others == KeptOutput() ? nil : others
    }
}

/// In the units that people use, and without the offset, which the file has in a place of its own.
extension KeptOutput: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func found(_ key: CodingKeys, _ range: CommandRange, of parts: Double = 1) throws -> Replacement<Int64>? {
            try container.decodeIfPresent(Replacement<Double>.self, forKey: key)?.whole(range, of: parts)
        }
        multiply = try found(.multiply, .multiply)
        divide = try found(.divide, .divide)
        swing = try found(.swing, .swing, of: 10)
        if let range = try container.decodeIfPresent(Replacement<ClosedRange<Double>>.self, forKey: .range) {
            tempos = Replacement(try Self.tempos(range.value), insteadOf: try Self.tempos(range.insteadOf))
        }
        isOff = try container.decodeIfPresent(Bool.self, forKey: .enabled) == false
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(multiply, forKey: .multiply)
        try container.encodeIfPresent(divide, forKey: .divide)
        try container.encodeIfPresent(swing?.map { Double($0) / 10 }, forKey: .swing)
        let range = tempos?.map { Double($0.lowest) / 1_000...Double($0.highest) / 1_000 }
        try container.encodeIfPresent(range, forKey: .range)
        if isOff { try container.encode(false, forKey: .enabled) }
    }

    private enum CodingKeys: String, CodingKey {
        case multiply, divide, swing, range, enabled
    }

    /// Tempos from a file, in BPM.
    private static func tempos(_ range: ClosedRange<Double>) throws(KeptState.Unreadable) -> TempoRange {
        let allowed = CommandRange.deviceTempo
        guard allowed.contains(range.lowerBound), allowed.contains(range.upperBound), let tempos = TempoRange(range)
        else { throw KeptState.Unreadable(reason: "a range is two tempos from \(allowed.words), an octave apart") }
        return tempos
    }
}

extension TempoRange {
    /// A range in BPM; nil if it is less than an octave.
    init?(_ beatsPerMinute: ClosedRange<Double>) {
        self.init(
            lowest: Int64((beatsPerMinute.lowerBound * 1_000).rounded()),
            highest: Int64((beatsPerMinute.upperBound * 1_000).rounded()))
    }
}
