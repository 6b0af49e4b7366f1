internal import BeatTime
internal import ConfigurationFiles
internal import Essentials
internal import MIDIClock

/// What a number in a command may be.
///
/// Help, errors, HTTP, OSC and the panel all take it from this table.
package struct CommandRange: Hashable, Sendable {
    /// Both limits are allowed.
    package let limits: ClosedRange<Double>
    package let isWhole: Bool
    /// Such as ` BPM`; empty for a plain number.
    private let unit: String

    private init(_ limits: ClosedRange<Double>, _ unit: String = "", isWhole: Bool = false) {
        (self.limits, self.unit, self.isWhole) = (limits, unit, isWhole)
    }

    package func contains(_ number: Double) -> Bool {
        limits.contains(number) && (!isWhole || number == number.rounded())
    }

    /// As people read it, such as `-500 to 500` or `a whole number from 1 to 16`.
    package var numbers: String {
        "\(isWhole ? "a whole number from " : "")\(limits.inWords)"
    }

    /// The same with its unit, such as `-500 to 500 ms`.
    package var words: String { numbers + unit }

    package static let tempo = CommandRange(Tempo.allowed, " BPM")
    /// Added to a tempo.
    package static let tempoStep = CommandRange(-979...979, " BPM")
    package static let quantum = CommandRange(0...64, " beats")
    package static let offset = CommandRange(units(OutputSettings.offsets, of: 1_000), " ms")
    /// Added to an offset.
    package static let nudge = CommandRange(-1_000...1_000, " ms")
    package static let multiply = CommandRange(units(OutputSettings.multipliers), isWhole: true)
    package static let divide = CommandRange(units(OutputSettings.divisors), isWhole: true)
    package static let swing = CommandRange(units(OutputSettings.swings, of: 10), " %")
    /// How much faster a device is held for a while.
    package static let bend = CommandRange(units(Bend.rates, of: 10_000), " %")
    /// For how long the command line holds it, if told so.
    package static let bendSeconds = CommandRange(0.1...60, " s")
    /// Each limit of the tempos that a device takes.
    package static let deviceTempo = CommandRange(1...999, " BPM")
    /// Bars after which a device enters; 0 is the next one.
    package static let entryBars = CommandRange(units(Control.Verb.barsToEntry), isWhole: true)
    /// Bars that are counted in; 0 is none.
    package static let countIn = CommandRange(units(Control.Verb.barsToCountIn), isWhole: true)
    /// For how long ticks are marked.
    package static let markTime = CommandRange(0...600, " s", isWhole: true)

    private static func units(_ range: ClosedRange<some BinaryInteger>, of size: Double = 1) -> ClosedRange<Double> {
        Double(range.lowerBound) / size...Double(range.upperBound) / size
    }
}

extension ClosedRange<Double> {
    /// Such as `0 to 64`, as people and JSON write it.
    var inWords: String { "\(shortest(lowerBound, atMost: 3)) to \(shortest(upperBound, atMost: 3))" }
}
