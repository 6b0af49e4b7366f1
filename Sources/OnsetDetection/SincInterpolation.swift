private import func Glibc.cos
private import func Glibc.sin

/// Computes the values of a recording between its samples.
///
/// A sound card removes everything above half its sample rate, so the samples determine the values in between. Straight
/// lines between samples would not be exact enough: at 48 kHz a MIDI bit is only one and a half samples long.
struct SincInterpolation: Sendable {
    /// Weights of the samples around a time, one row for each fraction of a sample.
    private let weights: [Double]

    /// Number of samples used on each side.
    static let reach = 12
    private static let parts = 64
    private static let width = 2 * reach

    init() {
        weights = (0...Self.parts).flatMap { part -> [Double] in
            let fraction = Double(part) / Double(Self.parts)
            let row = (0..<Self.width).map { Self.weight(at: Double($0 - Self.reach + 1) - fraction) }
            let sum = row.reduce(0, +)
            return row.map { $0 / sum }
        }
    }

    /// The value at a time in samples; samples that are not available count as 0.
    func value(of history: SampleHistory, at time: Double) -> Double {
        let whole = time.rounded(.down)
        let fine = (time - whole) * Double(Self.parts)
        let part = min(Self.parts - 1, Int(fine))
        let first = Int(whole) - Self.reach + 1
        let (row, next) = (part * Self.width, (part + 1) * Self.width)
        let share = fine - Double(part)
        var sum = 0.0
        for index in 0..<Self.width {
            let weight = weights[row + index] + share * (weights[next + index] - weights[row + index])
            sum += weight * history[first + index]
        }
        return sum
    }

    private static func weight(at distance: Double) -> Double {
        guard abs(distance) > 1e-9 else { return 1 }
        let angle = Double.pi * distance
        return sin(angle) / angle * (0.5 + 0.5 * cos(angle / Double(reach)))
    }
}
