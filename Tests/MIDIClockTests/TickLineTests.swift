import BeatTime
import MIDIClock
import Testing

@Suite
struct TickLineTests {
    @Test(arguments: [20, 97.3, 120, 133.7, 174, 999])
    func `a tick falls in the microsecond in which its exact share of the beat ends`(beatsPerMinute: Double) {
        let line = line(beatsPerMinute: beatsPerMinute, timeOrigin: -12_345, tickOrigin: 77)
        for tick in [Int64](-50...50) + [1_000_003, -1_000_003] {
            let exact = (tick - 77) * line.microsecondsPerBeat
            let time = line.time(ofTick: tick).microseconds + 12_345
            #expect(time * 24 >= exact && (time - 1) * 24 < exact)
        }
    }

    @Test(arguments: [20, 97.3, 120, 133.7, 999])
    func `the first tick at or after a time is found exactly`(beatsPerMinute: Double) {
        let line = line(beatsPerMinute: beatsPerMinute, timeOrigin: 1_000)
        for time in stride(from: Int64(-400_000), through: 400_000, by: 37) {
            let tick = line.firstTick(atOrAfter: HostTime(microseconds: time))
            #expect(line.time(ofTick: tick).microseconds >= time)
            #expect(line.time(ofTick: tick - 1).microseconds < time)
        }
    }

    @Test
    func `the nearest tick to a tick's own time is that tick`() {
        let line = line(beatsPerMinute: 133.7, timeOrigin: 500, tickOrigin: -3)
        for tick in Int64(-1_000)...1_000 { #expect(line.nearestTick(to: line.time(ofTick: tick)) == tick) }
    }

    @Test
    func `the largest origins that the network accepts do not overflow`() {
        for origin in [Int64(1) << 55, -(Int64(1) << 55)] {
            let line = TickLine(
                microsecondsPerBeat: 60_060, timeOrigin: HostTime(microseconds: origin), tickOrigin: 0)
            let tick = line.firstTick(atOrAfter: HostTime(microseconds: 1_000_000))
            #expect(abs(line.time(ofTick: tick).microseconds - 1_000_000) <= line.tickLength + 1)
        }
    }
}
