internal import BeatTime

/// Where an output's pulses fall among the ticks, after multiplying, dividing, folding and swing.
///
/// Pulse 0 is the beginning of the song; a device counts 24 pulses as one of its beats. Without a divider
/// and swing, every tick of the session is also a pulse. Swing does not move the eighths, counted from pulse 0.
struct PulseGrid: Hashable, BitwiseCopyable {
    /// The tick of pulse 0.
    let origin: Int64
    private(set) var multiply: Int64
    private(set) var divide: Int64
    private(set) var swing: Int64

    /// What a grid is made of, besides its fold.
    struct Source: Hashable, BitwiseCopyable {
        var (multiply, divide, swing): (Int64, Int64, Int64)
        var (tickLength, origin): (Int64, Int64)

        /// - Parameters:
        ///   - settings: the output's.
        ///   - tickLength: at the session's tempo, in microseconds.
        ///   - origin: the tick of pulse 0.
        init(_ settings: OutputSettings, tickLength: Int64, origin: Int64) {
            (multiply, divide, swing) = (settings.multiply, settings.divide, settings.swing)
            (self.tickLength, self.origin) = (tickLength, origin)
        }
    }

    /// The pulses of an output whose tempo is folded into its device's range, fewer if they would be too close.
    init(_ source: Source, _ fold: TempoFold) {
        origin = source.origin
        let tickLength = source.tickLength
        let requested = fold(
            source.multiply.clamped(to: OutputSettings.multipliers),
            source.divide.clamped(to: OutputSettings.divisors))
        (multiply, divide) = requested
        // Only a factor of the requested multiplier keeps the pulses a subset of the requested ones.
        while multiply > 1, tickLength * divide < multiply * Self.closest || requested.multiply % multiply != 0 {
            multiply -= 1
        }
        // The pulses of the short sixteenth are (1 000 - swing) / 500 of a straight gap apart.
        let mostSwing = 1_000 - Self.closest * 500 * multiply / max(1, tickLength * divide)
        swing = min(source.swing.clamped(to: OutputSettings.swings), max(500, mostSwing))
    }

    /// Shortest planned distance of pulses, in microseconds.
    ///
    /// After a late pulse, four fifths of it are allowed: 700 us. Two bytes on a DIN line take 640 us.
    private static let closest: Int64 = 875

    /// Where a pulse falls.
    func place(ofPulse pulse: Int64) -> TickPlace {
        let straight = straightPlace(ofPulse: pulse)
        guard swing != 500 else { return straight }
        let swung = displaced(TickPlace(tick: straight.tick &- origin, millionths: straight.millionths))
        return TickPlace(tick: swung.tick &+ origin, millionths: swung.millionths)
    }

    /// Where a pulse would be without swing.
    func straightPlace(ofPulse pulse: Int64) -> TickPlace {
        let whole = pulse.floorDivided(by: multiply)
        let part = (pulse - whole * multiply) * divide
        return TickPlace(
            tick: origin &+ whole * divide + part / multiply, millionths: part % multiply * 1_000_000 / multiply)
    }

    /// Applies swing: the first six ticks of an eighth spread evenly over its long part, the other six over the rest.
    private func displaced(_ place: TickPlace) -> TickPlace {
        let eighth = place.tick.floorDivided(by: 12) * 12
        let inside = (place.tick - eighth) * 1_000_000 + place.millionths
        let moved =
            inside < 6_000_000
            ? inside * swing / 500 : 12_000 * swing + (inside - 6_000_000) * (1_000 - swing) / 500
        return TickPlace(tick: eighth + moved / 1_000_000, millionths: moved % 1_000_000)
    }

    /// The first pulse at or after a place, ignoring swing.
    func pulse(atOrAfter place: TickPlace) -> Int64 {
        let pulses = (place.tick &- origin) &* multiply
        let whole = pulses.floorDivided(by: divide)
        let rest = (pulses - whole * divide) * 1_000_000 + place.millionths * multiply
        return whole - (-rest).floorDivided(by: divide * 1_000_000)
    }

    /// Pulses in one of the device's sixteenths, the unit of Song Position Pointer.
    static let pulsesPerSixteenth: Int64 = 6

    /// The first pulse at or after the beginning of a bar of the song.
    func pulse(ofBar bar: Int64, _ transport: PlannedTransport) -> Int64 {
        pulse(atOrAfter: TickPlace(tick: origin &+ bar &* transport.ticksPerBar))
    }

    /// Number of the device's sixteenths until a bar of the device and one of the session begin together again.
    private func sixteenthsPerCycle(_ transport: PlannedTransport) -> Int64 {
        let ticks = multiply * transport.ticksPerBar
        let pulses = ticks / Self.commonDivisor(ticks, divide)
        // The device's bar has as many pulses as the session's has ticks, and a whole number of sixteenths.
        return pulses / Self.commonDivisor(pulses, transport.ticksPerBar) * transport.ticksPerBar
            / Self.pulsesPerSixteenth
    }

    private static func commonDivisor(_ first: Int64, _ second: Int64) -> Int64 {
        var (larger, smaller) = (first, second)
        while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
        return larger
    }

    /// A pulse's song position in sixteenths, 0 to 16383.
    ///
    /// It restarts at 0 after the largest number of cycles that fits, so bars stay aligned.
    func songPosition(ofPulse pulse: Int64, _ transport: PlannedTransport) -> UInt16 {
        let cycle = min(sixteenthsPerCycle(transport), 16_384)
        let end = 16_384 / cycle * cycle
        return UInt16(truncatingIfNeeded: pulse / Self.pulsesPerSixteenth % end)
    }
}

extension Int64 {
    func clamped(to range: ClosedRange<Int64>) -> Int64 {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
