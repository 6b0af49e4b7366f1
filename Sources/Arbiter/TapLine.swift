/// Taps that may be beats of one tempo: a straight line through some of the last ones, from whatever tap to the newest.
struct TapLine: Comparable {
    /// The taps on the line, in order: their numbers, beats, and times in microseconds.
    private var points: [(tap: Int, beat: Int, time: Double)]
    /// How many taps there are, on the line or not.
    private let total: Int
    private var fit: Fit

    /// Fewest taps that make a tempo.
    static let fewest = 3
    /// How far a human hand is off, in microseconds, as long as nothing else is known.
    private static let spread = 10_000.0
    /// Sum of the squared distances from their line of three taps whose two gaps differ by 10 us.
    private static let evenSquares = 10.0 * 10 / 6
    /// Shortest and longest beat, in microseconds: 300 and 30 BPM, and a little more.
    private static let beats = 196_000.0...2_040_000.0

    /// The lines on which the taps may lie.
    ///
    /// Wherever two taps follow each other on a line, there are one or two beats between them, and at most one tap that is
    /// not on it.
    ///
    /// - Parameter times: the taps' times in microseconds, rising.
    /// - Returns: the lines of two taps and more, some of them several times.
    static func lines(through times: [Double]) -> [TapLine] {
        times.indices.flatMap { second in
            [second - 1, second - 2].filter { $0 >= 0 }.flatMap { first in
                [1, 2].compactMap { TapLine(from: first, to: second, beats: $0, of: times) }
            }
        }
    }

    /// The longest line that begins with two taps; nil if it does not reach the last two.
    private init?(from first: Int, to second: Int, beats: Int, of times: [Double]) {
        points = [(first, 0, times[first]), (second, beats, times[second])]
        total = times.count
        fit = Fit(points)
        guard Self.beats.contains(fit.slope) else { return nil }
        for tap in (second + 1)..<max(times.count, second + 1) {
            let last = points[points.count - 1]
            if tap - last.tap > 2 { return nil }
            guard let beat = beat(of: times[tap]), (1...2).contains(beat - last.beat) else { continue }
            points.append((tap, beat, times[tap]))
            fit = Fit(points)
        }
        guard times.count - points[points.count - 1].tap <= 2 else { return nil }
        for tap in (0..<first).reversed() {
            if points[0].tap - tap > 2 { break }
            guard let beat = beat(of: times[tap]), (1...2).contains(points[0].beat - beat) else { continue }
            points.insert((tap, beat, times[tap]), at: 0)
            fit = Fit(points)
        }
        while let slip = worstSlip {
            points.remove(at: slip)
            fit = Fit(points)
        }
        guard Self.beats.contains(fit.slope) else { return nil }
    }

    /// The beat that a time is, if it is near enough to one.
    private func beat(of time: Double) -> Int? {
        let beat = ((time - fit.start) / fit.slope).rounded()
        let spread = max(Self.spread, fit.slope / 50)
        let limit = min(4 * spread * (1 + fit.leverage(of: beat)).squareRoot(), fit.slope / 5)
        return abs(time - fit.start - beat * fit.slope) <= limit ? Int(beat) : nil
    }

    /// The tap on the line that is farther off than the others let expect; nil if none is.
    private var worstSlip: Int? {
        guard count > Self.fewest else { return nil }
        let offs = points.indices.map { index in
            let (off, leverage) = (off(index), fit.leverage(of: Double(points[index].beat)))
            // What the others' spread would be without it.
            let others = fit.squares - off * off / (1 - leverage)
            let spread = ((4 * Self.spread * Self.spread + max(0, others)) / Double(4 + count - 3)).squareRoot()
            return abs(off) / (spread * (1 - leverage).squareRoot())
        }
        return points.indices.max { offs[$0] < offs[$1] }.flatMap { offs[$0] > 4 ? $0 : nil }
    }

    private func off(_ index: Int) -> Double {
        points[index].time - fit.start - Double(points[index].beat) * fit.slope
    }

    /// Microseconds per beat.
    var beat: Double { fit.slope }

    /// How many taps are on the line.
    var count: Int { points.count }

    /// Whether the newest tap is on it.
    var hasNewest: Bool { points.last?.tap == total - 1 }

    /// How many slips it takes to explain all taps since the line began: extra, late, early, and skipped ones.
    private var slips: Int {
        let between = zip(points, points.dropFirst()).map { max($1.tap - $0.tap, $1.beat - $0.beat) - 1 }
        return between.reduce(total - 1 - (points.last?.tap ?? 0), +)
    }

    /// What speaks against it: slips, and older taps that belong to something else, which two of count as any number.
    private var cost: Int { slips + min(2, points.first?.tap ?? 0) }

    /// Orders lines from the likeliest.
    static func < (left: TapLine, right: TapLine) -> Bool {
        let areBoth = (left.count < fewest) == (right.count < fewest)
        guard areBoth else { return left.count >= fewest }
        return (left.cost, -left.count) < (right.cost, -right.count)
    }

    static func == (left: TapLine, right: TapLine) -> Bool { (left.cost, left.count) == (right.cost, right.count) }

    /// Whether it could be the true one although another is likelier or as likely.
    func isAsGood(as other: TapLine) -> Bool { count >= Self.fewest && cost <= other.cost }

    func hasSameTempo(as other: TapLine) -> Bool { abs(beat - other.beat) < other.beat / 20 }

    /// Whether the tempo is at most a tenth off, whichever one of the taps is a slip.
    var isCertain: Bool {
        guard count - slips >= Self.fewest else { return false }
        // Three may be two with a slip in the middle, unless they are more even than a hand is.
        guard count > Self.fewest || fit.squares <= Self.evenSquares else { return false }
        let spread = ((Self.spread * Self.spread + fit.squares) / Double(1 + count - 2)).squareRoot()
        return points.indices.allSatisfy { index in
            let distance = Double(points[index].beat) - fit.middle
            let width = fit.width - distance * distance * Double(count) / Double(count - 1)
            let change = distance * off(index) / (1 - fit.leverage(of: Double(points[index].beat))) / fit.width
            return abs(change) + 3 * spread / width.squareRoot() <= fit.slope / 10
        }
    }

    /// A least-squares line of times over beats.
    private struct Fit {
        /// Time of beat 0, and microseconds per beat.
        let (start, slope): (Double, Double)
        /// Mean of the beats, the sum of their squared distances from it, and that of the times from the line.
        let (middle, width, squares): (Double, Double, Double)
        private let count: Double

        init(_ points: [(tap: Int, beat: Int, time: Double)]) {
            let count = Double(points.count)
            let middle = points.reduce(0) { $0 + Double($1.beat) } / count
            let time = points.reduce(0) { $0 + $1.time } / count
            let width = points.reduce(0) { $0 + (Double($1.beat) - middle) * (Double($1.beat) - middle) }
            let slope = points.reduce(0) { $0 + (Double($1.beat) - middle) * ($1.time - time) } / width
            let start = time - slope * middle
            squares = points.reduce(0) { sum, point in
                let off = point.time - start - slope * Double(point.beat)
                return sum + off * off
            }
            (self.start, self.slope, self.middle, self.width, self.count) = (start, slope, middle, width, count)
        }

        /// How much a tap at a beat moves the line there, or would as one more: 0 is not at all.
        func leverage(of beat: Double) -> Double { 1 / count + (beat - middle) * (beat - middle) / width }
    }
}
