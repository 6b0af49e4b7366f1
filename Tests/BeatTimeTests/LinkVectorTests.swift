import BeatTime
import TestVectors
import Testing

/// Link's arithmetic, bit for bit: all peers must come to the same microsecond.
@Suite
struct LinkVectorTests {
    private let vectors: LinkVectors

    init() throws { vectors = try LinkVectors.load() }

    private func line(_ bpm: Double, _ beatOrigin: Int64, _ timeOrigin: Int64) -> HostTimeline {
        HostTimeline(
            tempo: Tempo(beatsPerMinute: bpm), beatOrigin: Beats(microbeats: beatOrigin),
            timeOrigin: HostTime(microseconds: timeOrigin))
    }

    @Test
    func `a tempo is transmitted in whole microseconds per beat and clamped on arrival`() {
        #expect(vectors.tempo.count == 13)
        for vector in vectors.tempo {
            #expect(Tempo(beatsPerMinute: vector.bpm).microsecondsPerBeat == vector.microsPerBeat)
            let received = Tempo(microsecondsPerBeat: vector.microsPerBeat)
            #expect(received.beatsPerMinute == vector.received)
            #expect(received.clamped.beatsPerMinute == vector.clamped)
        }
    }

    @Test
    func `a tempo is clamped to Link's range`() {
        #expect(vectors.clamp.count == 8)
        for vector in vectors.clamp {
            #expect(Tempo(beatsPerMinute: vector.bpm).clamped.beatsPerMinute == vector.out)
        }
    }

    @Test
    func `NaN is clamped too`() {
        #expect(Tempo(beatsPerMinute: .nan).clamped.beatsPerMinute == 20)
        #expect(Tempo(beatsPerMinute: .infinity).clamped.beatsPerMinute == 999)
        #expect(Tempo(beatsPerMinute: -.infinity).clamped.beatsPerMinute == 20)
    }

    @Test
    func `beats are rounded to microbeats with halves away from zero`() {
        #expect(vectors.beats.count == 8)
        for vector in vectors.beats { #expect(Beats(vector.beats).microbeats == vector.micro) }
    }

    @Test
    func `a timeline gives the beat of a time`() {
        #expect(vectors.toBeats.count == 21)
        for vector in vectors.toBeats {
            let line = line(vector.bpm, vector.beatOrigin, vector.timeOrigin)
            #expect(line.beats(at: HostTime(microseconds: vector.time)).microbeats == vector.micro)
        }
    }

    @Test
    func `a timeline gives the time of a beat`() {
        #expect(vectors.fromBeats.count == 18)
        for vector in vectors.fromBeats {
            let line = line(vector.bpm, vector.beatOrigin, vector.timeOrigin)
            #expect(line.time(of: Beats(microbeats: vector.micro)).microseconds == vector.time)
        }
    }

    @Test
    func `a phase is inside its quantum, for negative beats too`() {
        #expect(vectors.phase.count == 13)
        for vector in vectors.phase {
            let phase = Beats(microbeats: vector.beats).phase(quantum: Beats(microbeats: vector.quantum))
            #expect(phase.microbeats == vector.phase)
        }
    }

    @Test
    func `the next and the closest beat with a phase are found, ties going down`() {
        #expect(vectors.match.count == 13)
        for vector in vectors.match {
            let (x, target) = (Beats(microbeats: vector.x), Beats(microbeats: vector.target))
            let quantum = Beats(microbeats: vector.quantum)
            #expect(x.nextMatch(phaseOf: target, quantum: quantum).microbeats == vector.next)
            #expect(x.closestMatch(phaseOf: target, quantum: quantum).microbeats == vector.closest)
        }
    }

    @Test
    func `shown beats have the shared phase and convert back to their time`() {
        #expect(vectors.phaseEncoded.count == 24)
        for vector in vectors.phaseEncoded {
            let line = line(vector.bpm, vector.beatOrigin, vector.timeOrigin)
            let (time, quantum) = (HostTime(microseconds: vector.time), Beats(microbeats: vector.quantum))
            let shown = line.shownBeats(at: time, quantum: quantum)
            #expect(shown.microbeats == vector.encoded)
            #expect(line.phase(at: time, quantum: quantum).microbeats == vector.phase)
            #expect(line.time(ofShown: shown, quantum: quantum).microseconds == vector.back)
        }
    }

    @Test
    func `a shown beat has its time`() {
        #expect(vectors.timeAtBeat.count == 21)
        for vector in vectors.timeAtBeat {
            let line = line(vector.bpm, vector.beatOrigin, vector.timeOrigin)
            let beat = Beats(microbeats: vector.beat)
            let time = line.time(ofShown: beat, quantum: Beats(microbeats: vector.quantum))
            #expect(time.microseconds == vector.time)
        }
    }
}
