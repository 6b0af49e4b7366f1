import Arbiter
import BeatTime
import Testing

@Suite
struct TapTempoTests {
    /// The tempo after each tap, for taps at these milliseconds.
    private func tempos(_ milliseconds: [Int64]) -> [Double?] {
        var tapping = TapTempo()
        return milliseconds.map { tapping.tapped(at: HostTime(microseconds: $0 * 1_000))?.beatsPerMinute }
    }

    @Test
    func `from the second tap on there is a tempo, and unsteady taps average out`() {
        #expect(tempos([0, 500]) == [nil, 120])
        #expect(tempos([0, 520, 1_000, 1_480, 2_000]).last == 120)
        #expect(tempos([0, 447]).last == 134.2)
    }

    @Test
    func `after eight taps the oldest no longer counts`() {
        let slow = (0..<8).map { Int64($0) * 500 }
        let faster = (1...7).map { 3_500 + Int64($0) * 400 }
        #expect(tempos(slow + faster).last == 150)
    }

    @Test
    func `a new tempo begins with two taps, and the pause before them does not count`() {
        #expect(tempos([0, 500, 1_000, 1_300, 1_600]).suffix(2) == [200, 200])
        #expect(tempos([0, 500, 1_000, 4_500, 4_900]).suffix(2) == [nil, 150])
        #expect(tempos([0, 3_000]).last == 20)
        #expect(tempos([0, 3_001]).last == .some(nil))
    }

    @Test
    func `a bouncing switch taps once`() {
        #expect(tempos([0, 5, 500, 530, 1_000]) == [nil, nil, 120, 120, 120])
    }

    @Test
    func `taps by another clock start over`() {
        #expect(tempos([900_000, 900_500, 20, 420]) == [nil, 120, nil, 150])
        #expect(tempos([.min / 1_000, .max / 1_000, 0]) == [nil, nil, nil])
    }
}
