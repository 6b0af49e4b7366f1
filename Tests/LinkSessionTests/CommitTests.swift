import BeatTime
import LinkSession
import Testing

/// The effects of an edit, here and on others.
@Suite
struct CommitTests {
    @Test
    func `an unchanged state changes nothing`() {
        var rig = Rig()
        rig.advance(milliseconds: 100)
        rig.forgetWhatWasSent()
        let state = rig.engine.sessionState
        rig.edit { _ in }
        rig.edit { $0.setTempo($0.tempo, at: $0.timeline.timeOrigin) }
        #expect(rig.sent.isEmpty && rig.engine.sessionState == state)
    }

    @Test
    func `a tempo is published at once, in whole microseconds per beat, and the edit's beat is its priority`() throws {
        var rig = Rig()
        rig.advance(milliseconds: 10_100)
        let (old, now) = (try #require(rig.announcement).timeline, rig.now)
        rig.forgetWhatWasSent()
        rig.edit { $0.setTempo(Tempo(beatsPerMinute: 123.4), at: now) }
        #expect(rig.engine.sessionState.tempo.beatsPerMinute == 123.4)
        let published = rig.alives.first?.announcement.timeline
        #expect(published?.tempo.microsecondsPerBeat == 486_224)
        #expect(published?.beatOrigin == old.beats(at: GhostTime(microseconds: 10_100_000)))
        #expect(rig.engine.sessionState.timeline.beats(at: now) == Beats(20.2))
    }

    @Test
    func `a change of the private beat count alone is not published`() {
        var rig = Rig()
        rig.join(Peer(7))
        rig.advance(milliseconds: 333)
        rig.forgetWhatWasSent()
        let (timeline, session) = (rig.engine.sessionState.timeline, rig.announcement?.timeline)
        let now = rig.now
        rig.edit { $0.requestBeat(Beats(1000), at: now, quantum: Beats(4)) }
        #expect(rig.engine.sessionState.timeline.beatOrigin != timeline.beatOrigin)
        #expect(rig.engine.sessionState.timeline.timeOrigin == timeline.timeOrigin)
        #expect(rig.announcement?.timeline == session)
        #expect(rig.sent.isEmpty)
    }

    @Test
    func `a beat count changed in an old capture does not undo a newer tempo`() {
        var rig = Rig()
        var peer = Peer(7, tempo: 100)
        rig.join(peer)
        var state = rig.engine.sessionState
        peer.announcement.timeline.beatOrigin = Beats(50)
        peer.announcement.timeline.tempo = Tempo(microsecondsPerBeat: 400_000)
        rig.hear(peer)
        let timeline = rig.engine.sessionState.timeline
        state.requestBeat(Beats(1000), at: rig.now, quantum: Beats(4))
        rig.commit(state)
        #expect(rig.engine.sessionState.timeline.beatOrigin != timeline.beatOrigin)
        #expect(rig.engine.sessionState.tempo == timeline.tempo)
        #expect(rig.announcement?.timeline == peer.announcement.timeline)
    }

    @Test
    func `a member that still reports an older timeline gets ours again`() {
        var rig = Rig()
        let peer = Peer(7)
        rig.join(peer)
        rig.advance(milliseconds: 100)
        rig.hear(peer)
        rig.forgetWhatWasSent()
        rig.edit { $0.setTempo(Tempo(beatsPerMinute: 150), at: $0.timeForIsPlaying) }
        rig.advance(milliseconds: 3)
        rig.hear(peer)
        rig.advance(milliseconds: 100)
        let times = rig.alives.map(\.time.microseconds)
        #expect(times.count == 2)
        #expect((50_000...51_000).contains((times.last ?? 0) - (times.first ?? 0)))
        #expect(rig.engine.sessionState.tempo.beatsPerMinute == 150)
    }

    @Test
    func `a timeline captured before a join is not carried into the joined session`() {
        var rig = Rig(tempo: 120)
        var state = rig.engine.sessionState
        let peer = Peer(7, tempo: 100)
        rig.join(peer)
        rig.advance(milliseconds: 100)
        rig.forgetWhatWasSent()
        state.setTempo(Tempo(beatsPerMinute: 121), at: rig.now)
        state.setIsPlaying(true, at: rig.now)
        rig.commit(state)
        #expect(rig.announcement?.timeline == peer.announcement.timeline)
        #expect(rig.engine.sessionState.tempo.beatsPerMinute == 100)
        #expect(rig.engine.sessionState.isPlaying, "the start, unlike the timeline, still counts")
    }

    @Test
    func `a timeline captured before the last peer left still counts`() {
        var rig = Rig()
        rig.join(Peer(7, tempo: 100))
        var state = rig.engine.sessionState
        rig.hear(Peer(7), .byeBye)
        state.setTempo(Tempo(beatsPerMinute: 77), at: rig.now)
        rig.commit(state)
        #expect(rig.engine.sessionState.tempo.beatsPerMinute == 77)
    }

    @Test
    func `forcing a beat among peers moves everyone's grid, and the beat of the edit is its priority`() throws {
        var rig = Rig()
        rig.join(Peer(7, tempo: 100))
        rig.advance(milliseconds: 333)
        rig.forgetWhatWasSent()
        let (old, now) = (try #require(rig.announcement).timeline, rig.now)
        rig.edit { $0.forceBeat(.zero, at: now, quantum: Beats(4)) }
        rig.advance(milliseconds: 100)
        let published = rig.alives.first?.announcement.timeline
        #expect(published != old)
        // By the session's clock the rig began at 60 s; joining took 100 ms, and 333 ms passed then.
        #expect(published?.beatOrigin == old.beats(at: GhostTime(microseconds: 60_433_000)))
        #expect(published?.tempo == old.tempo)
        let beat = rig.engine.sessionState.beat(at: now, quantum: Beats(4))
        #expect(abs(beat.microbeats) <= 2, "equal but for rounding")
    }

    @Test
    func `an edit that follows one that moved the grid later still wins`() throws {
        var rig = Rig()
        rig.advance(milliseconds: 1000)
        for _ in 0..<5 {
            let old = try #require(rig.announcement).timeline
            let now = rig.now
            rig.edit { $0.forceBeat(.zero, at: now.advanced(byMicroseconds: 900_000), quantum: Beats(4)) }
            rig.edit { $0.setTempo(Tempo(beatsPerMinute: $0.tempo.beatsPerMinute + 1), at: now) }
            #expect(try #require(rig.announcement).timeline.beatOrigin > old.beatOrigin)
        }
    }

    @Test
    func `values too large for exact arithmetic are not committed`() {
        var rig = Rig()
        let timeline = rig.engine.sessionState.timeline
        rig.edit { $0.forceBeat(Beats(1e300), at: $0.timeForIsPlaying, quantum: Beats(4)) }
        rig.edit { $0.placeBeatZero(at: HostTime(microseconds: .max)) }
        rig.edit { $0.setIsPlaying(true, at: HostTime(microseconds: .min)) }
        #expect(rig.engine.sessionState.timeline == timeline)
        #expect(!rig.engine.sessionState.isPlaying)
    }

    @Test
    func `alone, beat zero can be placed on any microsecond and stays there`() {
        var rig = Rig(tempo: 97.3)
        rig.advance(milliseconds: 5432.1)
        let time = rig.now.advanced(byMicroseconds: 12_345)
        rig.edit { $0.placeBeatZero(at: time) }
        rig.advance(milliseconds: 60_000)
        #expect(rig.engine.sessionState.beat(at: time, quantum: Beats(4)) == .zero)
        #expect(rig.engine.sessionState.timeline.timeOrigin == time)
    }
}
