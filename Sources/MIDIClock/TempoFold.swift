/// The power of two by which an output's tempo is folded into its device's range.
///
/// It is the power nearest to 1 that fits. A fold ends only when the tempo is 2 % inside the range again, so that a
/// tempo that varies around the limit does not fold again and again. If the range is little more than an octave, the
/// tempo may therefore exceed its other end by up to 2 %.
struct TempoFold: Hashable, BitwiseCopyable {
    /// The device gets the tempo times two to this power.
    private(set) var exponent: Int8 = 0

    static let none = TempoFold()

    /// How far inside the range a tempo must be to end a fold.
    private static let hysteresis = 0.02
    /// Tolerance beyond the range, because a session's tempo is rounded and a leader's varies.
    private static let tolerance = 0.000_1
    /// Largest exponent; enough for any session's tempo, multiplied or divided.
    private static let deepest: Int8 = 16

    /// The fold for another tempo.
    ///
    /// - Parameters:
    ///   - settings: of the output; its multiplier and divider count.
    ///   - microsecondsPerBeat: the session's tempo.
    /// - Returns: the present fold, if it still fits.
    func following(_ settings: OutputSettings, microsecondsPerBeat: Int64) -> TempoFold {
        guard settings.tempos != .all else { return .none }
        var fold = self
        let (lowest, highest) = (Double(settings.tempos.lowest), Double(settings.tempos.highest))
        var tempo = settings.heardTempo(microsecondsPerBeat: microsecondsPerBeat)
        tempo *= Double(sign: .plus, exponent: Int(exponent), significand: 1)
        while fold.exponent < 0, tempo * 2 <= highest * (1 - Self.hysteresis) { fold.double(&tempo) }
        while fold.exponent > 0, tempo / 2 >= lowest * (1 + Self.hysteresis) { fold.halve(&tempo) }
        while -Self.deepest < fold.exponent, fold.exponent <= 0, tempo > highest * (1 + Self.tolerance) {
            fold.halve(&tempo)
        }
        while 0 <= fold.exponent, fold.exponent < Self.deepest, tempo < lowest * (1 - Self.tolerance) {
            fold.double(&tempo)
        }
        return fold
    }

    private mutating func double(_ tempo: inout Double) { (exponent, tempo) = (exponent + 1, tempo * 2) }

    private mutating func halve(_ tempo: inout Double) { (exponent, tempo) = (exponent - 1, tempo / 2) }

    /// Applies the fold to a multiplier and divider.
    func callAsFunction(_ multiply: Int64, _ divide: Int64) -> (multiply: Int64, divide: Int64) {
        var (multiply, divide) = (multiply, divide)
        for _ in 0..<abs(exponent) {
            if exponent > 0 {
                if divide % 2 == 0 { divide /= 2 } else { multiply *= 2 }
            } else {
                if multiply % 2 == 0 { multiply /= 2 } else { divide *= 2 }
            }
        }
        return (multiply, divide)
    }
}

extension OutputSettings {
    /// The tempo for the device without folding, in thousandths of a BPM.
    fileprivate func heardTempo(microsecondsPerBeat: Int64) -> Double {
        let (multiply, divide) = (multiply.clamped(to: Self.multipliers), divide.clamped(to: Self.divisors))
        return 60e9 * Double(multiply) / Double(microsecondsPerBeat * divide)
    }
}
