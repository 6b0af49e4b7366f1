import BeatTime
import MIDIClock
import Testing

@Suite
struct TempoMapTests {
    @Test
    func `a change of tempo leaves the ticks before it where they were`() {
        let first = line(beatsPerMinute: 120)
        var map = TempoMap(first)
        let second = line(beatsPerMinute: 60, timeOrigin: 1_000_000, tickOrigin: 48)
        map.changeTempo(to: second, at: HostTime(microseconds: 1_000_000))
        for tick in Int64(0)...48 { #expect(map.time(ofTick: tick) == first.time(ofTick: tick)) }
        for tick in Int64(48)...100 { #expect(map.time(ofTick: tick) == second.time(ofTick: tick)) }
    }

    @Test
    func `half a second with fifty changes per second is remembered, and the map never runs backwards`() {
        var map = TempoMap(line(beatsPerMinute: 20))
        var newest = map.line
        var changes: [(time: Int64, tick: Int64, at: HostTime)] = []
        for round in Int64(1)...200 {
            let time = round * 20_000
            let position = newest.position(at: HostTime(microseconds: time))
            let tempo = Tempo(beatsPerMinute: 20 + Double(round * 37 % 979))
            let next = TickLine(
                microsecondsPerBeat: tempo.microsecondsPerBeat,
                timeOrigin: HostTime(
                    microseconds: time - Int64((position * Double(tempo.microsecondsPerBeat) / 24).rounded())),
                tickOrigin: 0)
            let tick = Int64(position.rounded(.down))
            changes.append((time, tick, map.time(ofTick: tick)))
            map.changeTempo(to: next, at: HostTime(microseconds: time))
            newest = next
        }
        for change in changes.suffix(25) { #expect(map.time(ofTick: change.tick) == change.at) }
        let ticks = (changes[170].tick...changes[199].tick + 10).map { map.time(ofTick: $0) }
        #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test
    func `a step moves past and present equally and is counted`() {
        var map = TempoMap(line(beatsPerMinute: 120))
        map.changeTempo(
            to: line(beatsPerMinute: 60, timeOrigin: 1_000_000, tickOrigin: 48), at: HostTime(microseconds: 1_000_000))
        let before = (Int64(0)...100).map { map.time(ofTick: $0).microseconds }
        map.slew(byMicroseconds: -1_234)
        #expect((Int64(0)...100).map { map.time(ofTick: $0).microseconds + 1_234 } == before)
        #expect(map.slewed == -1_234)
    }
}
