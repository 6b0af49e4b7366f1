import AudioCapture
import Testing

@Suite
struct CapturePaceTests {
    @Test
    func `a card is never paused, though its crystal is fast and it is read late`() {
        var (pace, now) = (CapturePace(at: 0), 0.0)
        for _ in 0..<1_000 {
            // For half a second nobody reads, and then all is read at once.
            now += 0.5
            for _ in 0..<50 { #expect(pace.pause(afterReading: 0.0105, at: now) == 0) }
            for _ in 0..<50 {
                now += 0.01
                #expect(pace.pause(afterReading: 0.0105, at: now) == 0)
            }
        }
    }

    @Test
    func `a device without a clock is held to about the time`() {
        var (pace, now, sound) = (CapturePace(at: 0), 0.0, 0.0)
        while sound < 60 {
            sound += 0.02
            now += pace.pause(afterReading: 0.02, at: now)
        }
        #expect(now > 50 && now < 60)
    }
}
