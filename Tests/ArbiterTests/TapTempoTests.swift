import BeatTime
import Simulation
import Testing

@testable import Arbiter

@Suite
struct TapTempoTests {
    /// What is said after each tap, for taps at these milliseconds.
    private func readings(_ milliseconds: [Int64]) -> [TapTempo.Reading] {
        var tapping = TapTempo()
        return milliseconds.map { tapping.tapped(at: HostTime(microseconds: $0 * 1_000)) }
    }

    private func tempos(_ milliseconds: [Int64]) -> [Double?] {
        readings(milliseconds).map { $0.tempo?.beatsPerMinute }
    }

    @Test
    func `three taps that agree are a tempo, and each answer says how many are wanted`() {
        let readings = readings([0, 500, 1_000, 1_500])
        #expect(readings.map(\.counted) == [1, 2, 3, 4])
        #expect(readings.map(\.wanted) == [3, 3, 3, 4])
        #expect(readings.map { $0.tempo?.beatsPerMinute } == [nil, nil, 120, 120])
        #expect(tempos([0, 447, 894]).last == 134.23)
    }

    @Test
    func `three taps of a hand may be two and a slip between them, so it is asked for a fourth`() {
        #expect(readings([0, 505, 1_000]).last == TapTempo.Reading(counted: 3, wanted: 4))
        #expect(tempos([0, 505, 1_000, 1_500]).last == 120.12)
        #expect(tempos([0, 252, 500, 1_000, 1_500]) == [nil, nil, nil, nil, 120])
    }

    @Test
    func `uneven taps are fitted by a straight line, sixteen at most`() {
        #expect(tempos([0, 520, 1_000, 1_480, 2_000]).last == 120.97)
        let slow = (0..<16).map { Int64($0) * 500 }
        let slower = (1...15).map { 7_500 + Int64($0) * 510 }
        #expect(abs((tempos(slow + slower).last ?? 0)! - 60 / 0.51) < 0.01)
    }

    @Test(arguments: [
        [0, 500, 1_000, 1_500, 1_730, 2_000, 2_500],  // one too many
        [0, 500, 1_000, 1_500, 1_750, 2_000, 2_500],  // just in the middle
        [0, 500, 1_000, 2_000, 2_500],  // skipped
        [0, 500, 1_000, 1_500, 1_850, 2_500, 3_000],  // early
        [0, 500, 1_000, 1_500, 2_200, 2_500, 3_000],  // late
        [0, 500, 1_000, 1_500, 1_580, 2_000, 2_500],  // touched twice
    ])
    func `a slip changes nothing`(taps: [Int64]) {
        let tempos = tempos(taps)
        #expect(tempos[..<2].allSatisfy { $0 == nil })
        #expect(tempos[2...].allSatisfy { $0 == nil || $0 == 120 })
        #expect(tempos.last == 120)
    }

    @Test(arguments: [
        [0, 500, 700, 1_000, 1_500, 2_000], [0, 500, 750, 1_000, 1_500, 2_000], [0, 1_000, 1_500, 2_000, 2_500],
        [0, 500, 1_150, 1_500, 2_000], [0, 350, 1_000, 1_500, 2_000, 2_500], [0, 80, 500, 1_000],
    ])
    func `nor does one among the first taps, however many it takes`(taps: [Int64]) {
        #expect(tempos(taps).allSatisfy { $0 == nil || $0 == 120 })
        #expect(tempos(taps).last == 120)
    }

    @Test
    func `another tempo takes three taps, the last of the old one among them`() {
        let faster = [0, 500, 1_000, 1_500, 1_900, 2_300, 2_700] as [Int64]
        #expect(tempos(faster) == [nil, nil, 120, 120, nil, 150, 150])
        #expect(tempos([0, 500, 1_000, 4_500, 4_930, 5_360]).suffix(3) == [nil, nil, 139.53])
        let double = (0...4).map { Int64($0) * 600 } + (1...10).map { 2_400 + Int64($0) * 300 }
        #expect(tempos(double).allSatisfy { [nil, 100, 200].contains($0) })
        #expect(tempos(double).last == 200)
    }

    @Test
    func `a tempo is 30 to 300 BPM`() {
        #expect(tempos([0, 2_000, 4_000, 6_000]).last == 30)
        #expect(tempos([0, 200, 400, 600]).last == 300)
        #expect(tempos([0, 2_200, 4_400, 6_600, 8_800]).allSatisfy { $0 == nil })
        #expect(tempos([0, 170, 340, 510, 680]).allSatisfy { $0 == nil })
    }

    @Test
    func `a bouncing switch taps once, and a pause begins anew`() {
        #expect(tempos([0, 5, 500, 530, 649, 1_000]) == [nil, nil, nil, nil, nil, 120])
        #expect(readings([0, 500, 1_000, 6_000]).last == TapTempo.Reading(counted: 1, wanted: 3))
    }

    @Test
    func `taps by another clock start over`() {
        #expect(readings([900_000, 900_500, 20, 420, 820]).map(\.counted) == [1, 2, 1, 2, 3])
        #expect(readings([.min / 1_000, .max / 1_000, 0]).map(\.counted) == [1, 1, 1])
    }

    /// As many series as would be tapped in some years, each with a human spread and one slip.
    @Test
    func `in ten thousand series with a slip each, no tempo is a tenth off, and the last is as good as can be`() {
        var (random, worst) = (SeededGenerator(seed: 1), 0.0)
        var (ours, best): ([Double], [Double]) = ([], [])
        for number in 0..<10_000 {
            let series = TapSeries(TapSeries.Slip.allCases[number % TapSeries.Slip.allCases.count], using: &random)
            var (tapping, last) = (TapTempo(), 0.0)
            for tap in series.taps {
                guard let tempo = tapping.tapped(at: HostTime(microseconds: tap)).tempo else { continue }
                last = tempo.beatsPerMinute / series.tempo - 1
                worst = max(worst, abs(last))
                if abs(last) > 0.1 { Issue.record("\(series) gives \(tempo)") }
            }
            ours.append(last)
            best.append(series.fittedTempo / series.tempo - 1)
        }
        let ratio = rootMeanSquare(ours) / rootMeanSquare(best)
        print("taps: at worst \(worst * 100) % off; the last ones \(ratio) times a straight line's error")
        #expect(ratio < 1.1)
    }

    private func rootMeanSquare(_ values: [Double]) -> Double {
        (values.reduce(0) { $0 + $1 * $1 } / Double(values.count)).squareRoot()
    }
}

/// A human's taps of a tempo, with one slip.
private struct TapSeries {
    enum Slip: CaseIterable { case extra, skipped, early, late, twice }

    let slip: Slip
    let tempo: Double
    /// In microseconds.
    private(set) var taps: [Int64]
    /// The taps without the slip, with their beats.
    private let clean: [(beat: Double, time: Double)]

    init(_ slip: Slip, using random: inout SeededGenerator) {
        self.slip = slip
        tempo = Double.random(in: 60...180, using: &random)
        let beat = 60e6 / tempo
        let count = Int.random(in: 8...16, using: &random)
        var times = (0..<count).map { 1e6 + Double($0) * beat + Self.hand(using: &random) }
        var clean = times.enumerated().map { (beat: Double($0.offset), time: $0.element) }
        let place = Int.random(in: 0..<count, using: &random)
        switch slip {
        case .extra:
            times.insert(times[place] + beat * Double.random(in: 0.1...0.9, using: &random), at: place + 1)
        case .skipped:
            times.remove(at: place)
            clean.remove(at: place)
        case .early: times[place] -= beat * Double.random(in: 0.15...0.5, using: &random)
        case .late: times[place] += beat * Double.random(in: 0.15...0.5, using: &random)
        case .twice: times.insert(times[place] + 80_000, at: place + 1)
        }
        taps = times.map { Int64($0) }
        self.clean = clean
    }

    /// How far a hand is off, in microseconds: normally distributed, 10 ms.
    private static func hand(using random: inout SeededGenerator) -> Double {
        10_000 * ((0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &random) })
    }

    /// The tempo of a straight line through all taps without the slip.
    var fittedTempo: Double {
        let count = Double(clean.count)
        let beat = clean.reduce(0) { $0 + $1.beat } / count
        let time = clean.reduce(0) { $0 + $1.time } / count
        let slope =
            clean.reduce(0) { $0 + ($1.beat - beat) * ($1.time - time) }
            / clean.reduce(0) { $0 + ($1.beat - beat) * ($1.beat - beat) }
        return 60e6 / slope
    }
}
