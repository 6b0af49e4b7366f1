internal import BeatTime

/// Taps that may be beats of one tempo: a straight line through some of the last ones, from whatever tap to the newest.
struct TapLine: Comparable {
    /// The taps on the line, in order: their numbers, beats, and times in microseconds.
    private var points: [(tap: Int, beat: Int, time: Double)]
    /// How many taps there are, on the line or not.
    private let total: Int
    /// Times over beats.
    private var fit: LineFit

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
        fit = Self.fit(points)
        guard Self.beats.contains(fit.slope) else { return nil }
        for tap in (second + 1)..<max(times.count, second + 1) {
            let last = points[points.count - 1]
            if tap - last.tap > 2 { return nil }
            guard let beat = beat(of: times[tap]), (1...2).contains(beat - last.beat) else { continue }
            points.append((tap, beat, times[tap]))
            fit = Self.fit(points)
        }
        guard times.count - points[points.count - 1].tap <= 2 else { return nil }
        for tap in (0..<first).reversed() {
            if points[0].tap - tap > 2 { break }
            guard let beat = beat(of: times[tap]), (1...2).contains(points[0].beat - beat) else { continue }
            points.insert((tap, beat, times[tap]), at: 0)
            fit = Self.fit(points)
        }
        while let slip = worstSlip {
            points.remove(at: slip)
            fit = Self.fit(points)
        }
        guard Self.beats.contains(fit.slope) else { return nil }
    }

    private static func fit(_ points: [(tap: Int, beat: Int, time: Double)]) -> LineFit {
        LineFit(points.map { (Double($0.beat), $0.time) })
    }

    /// The beat that a time is, if it is near enough to one.
    private func beat(of time: Double) -> Int? {
        let beat = ((time - fit.value(at: 0)) / fit.slope).rounded()
        let spread = max(Self.spread, fit.slope / 50)
        let limit = min(4 * spread * (1 + fit.leverage(of: beat)).squareRoot(), fit.slope / 5)
        return abs(time - fit.value(at: beat)) <= limit ? Int(beat) : nil
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
        points[index].time - fit.value(at: Double(points[index].beat))
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
            let beat = Double(points[index].beat)
            let change = fit.pull(of: beat) * off(index)
            return abs(change) + 3 * spread / fit.width(without: beat).squareRoot() <= fit.slope / 10
        }
    }
}
