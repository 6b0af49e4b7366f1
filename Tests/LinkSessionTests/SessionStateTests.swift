import BeatTime
import LinkSession
import TestVectors
import Testing

/// Operations on a captured state, and exact conversion between host time and session.
@Suite
struct SessionStateTests {
    private let vectors: LinkVectors

    init() throws { vectors = try LinkVectors.load() }

    /// A captured state with its timeline replaced.
    private func state(_ timeline: HostTimeline, isConnected: Bool = false) -> SessionState {
        var rig = Rig()
        if isConnected { rig.join(Peer(1)) }
        var state = rig.engine.sessionState
        #expect(state.isConnected == isConnected)
        state.timeline = timeline
        return state
    }

    private let line = HostTimeline(
        tempo: Tempo(beatsPerMinute: 120), beatOrigin: Beats(10.25), timeOrigin: HostTime(microseconds: 5_000_000))

    @Test
    func `a new tempo keeps the beat at its time`() {
        #expect(vectors.setTempo.count == 4)
        for vector in vectors.setTempo {
            var state = state(line)
            state.setTempo(Tempo(beatsPerMinute: vector.bpm), at: HostTime(microseconds: vector.at))
            #expect(state.tempo.beatsPerMinute == vector.outBpm)
            #expect(state.timeline.beatOrigin.microbeats == vector.outBeatOrigin)
            #expect(state.timeline.timeOrigin.microseconds == vector.outTimeOrigin)
        }
    }

    @Test
    func `a requested beat is placed at its time when alone, and at the next shared phase with peers`() {
        #expect(vectors.request.count == 12)
        for vector in vectors.request {
            var state = state(line, isConnected: vector.connected)
            let (time, quantum) = (HostTime(microseconds: vector.time), Beats(vector.quantum))
            state.requestBeat(Beats(vector.beat), at: time, quantum: quantum)
            #expect(state.timeline.beatOrigin.microbeats == vector.outBeatOrigin)
            #expect(state.timeline.timeOrigin.microseconds == vector.outTimeOrigin)
            #expect(state.beat(at: time, quantum: quantum).value == vector.beatAtTime)
            #expect(state.time(ofBeat: Beats(vector.beat), quantum: quantum).microseconds == vector.timeAtBeat)
        }
    }

    @Test
    func `a forced beat is never early`() {
        #expect(vectors.force.count == 5)
        for vector in vectors.force {
            var state = state(
                HostTimeline(
                    tempo: Tempo(beatsPerMinute: vector.bpm), beatOrigin: Beats(microbeats: vector.beatOrigin),
                    timeOrigin: HostTime(microseconds: vector.timeOrigin)))
            let (time, quantum) = (HostTime(microseconds: vector.time), Beats(vector.quantum))
            state.forceBeat(Beats(vector.beat), at: time, quantum: quantum)
            #expect(state.timeline.beatOrigin.microbeats == vector.outBeatOrigin)
            #expect(state.timeline.timeOrigin.microseconds == vector.outTimeOrigin)
            #expect(state.beat(at: time, quantum: quantum) <= Beats(vector.beat))
        }
    }

    @Test
    func `a beat requested for the start of playing is ignored while stopped`() {
        var state = state(line)
        state.requestBeatAtStartPlayingTime(.zero, quantum: Beats(4))
        #expect(state.timeline == line)
        let time = HostTime(microseconds: 7_300_000)
        state.setIsPlaying(true, at: time, requesting: .zero, quantum: Beats(4))
        #expect(state.isPlaying && state.timeForIsPlaying == time)
        #expect(state.beat(at: time, quantum: Beats(4)) == .zero)
    }

    @Test
    func `beat zero can be placed on a tick`() {
        var state = state(line)
        state.placeBeatZero(at: HostTime(microseconds: 7_300_001))
        #expect(state.tempo.beatsPerMinute == 120)
        #expect(state.beat(at: HostTime(microseconds: 7_300_001), quantum: Beats(4)) == .zero)
        #expect(state.beat(at: HostTime(microseconds: 9_800_001), quantum: Beats(4)) == Beats(5))
    }

    @Test
    func `following a session keeps the count of beats and adopts the grid`() {
        #expect(vectors.clientFromSession.count == 2)
        for vector in vectors.clientFromSession {
            let transform = GhostTransform(intercept: vector.intercept)
            let (client, now) = (vector.client.timeline() as HostTimeline, HostTime(microseconds: vector.at))
            let followed = client.following(vector.session.timeline(), through: transform, at: now)
            #expect(followed == vector.out.timeline())
            #expect(followed.beats(at: now) == client.beats(at: now))
        }
    }

    @Test
    func `an edit is published with the present beat as its priority`() throws {
        #expect(vectors.sessionFromClient.count == 5)
        for vector in vectors.sessionFromClient {
            let session: GhostTimeline = vector.session.timeline()
            let edited = try session.edited(
                to: vector.client.timeline(), through: GhostTransform(intercept: vector.intercept),
                at: HostTime(microseconds: vector.at))
            #expect(edited == vector.out.timeline())
        }
    }

    @Test
    func `start and stop are shared as beats and move with the tempo`() {
        let vector = vectors.startStop
        let (session, transform) = (
            vector.session.timeline() as GhostTimeline, GhostTransform(intercept: vector.intercept)
        )
        let client = HostStartStopState(
            isPlaying: true, time: HostTime(microseconds: vector.clientTime),
            timestamp: HostTime(microseconds: vector.clientTimestamp))
        let shared = client.inGhostTime(on: session, through: transform)
        #expect(shared.beats.microbeats == vector.sessionBeats)
        #expect(shared.timestamp.microseconds == vector.sessionTimestamp)
        #expect(shared.inHostTime(on: session, through: transform) == client)
        let slower = GhostTimeline(
            tempo: Tempo(beatsPerMinute: 100), beatOrigin: Beats(20),
            timeOrigin: GhostTime(microseconds: 10_000_000))
        #expect(shared.inHostTime(on: slower, through: transform).time.microseconds == 1_010_600_000)
    }
}
