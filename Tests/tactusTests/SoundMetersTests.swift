import ClockMeter
import Simulation
import Testing

@testable import tactus

@Suite
struct SoundMetersTests {
    @Test
    func `measuring anew in the middle of a byte makes none unreadable, and counts what comes from then on`() {
        let (rate, ticks) = (48_000, 72)  // a tick every 1000 samples, which lasts 15
        var recording = Recording(seconds: 1.6, sampleRate: Double(rate))
        recording.addMIDI((0..<ticks).map { (0xF8, 0.010 + Double($0) / 48) }, level: 0.4)
        recording.coupleAC(frequency: 10)
        // Also 5 ms before a tick, which is for how long a new detector learns.
        for begin in stride(from: 48_230, to: 48_510, by: 2) {
            var meters = SoundMeters(.midi, sampleRate: rate, channels: [1])
            meters.take([Array(recording.samples[..<begin])])
            meters.beginAnew()
            meters.take([Array(recording.samples[begin...])])
            meters.finish()
            let figures = meters.figures(nominal: nil)
            #expect(meters.sound.unreadable == 0 && figures.ticks.lost == 0)
            #expect((ticks - 49...ticks - 48).contains(figures.ticks.received))
            #expect(abs(figures.seconds - 0.59) < 0.01 && meters.count == recording.samples.count - begin)
        }
    }
}
