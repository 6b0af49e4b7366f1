import BeatTime
import LinkSession
import Testing

/// Sharing start and stop, or not.
@Suite
struct StartStopTests {
    /// A start or stop as it is announced.
    ///
    /// `timestamp` is when it was requested, in microseconds of ghost time.
    private func state(_ isPlaying: Bool, timestamp: Int64, beats: Double = 50) -> StartStopState {
        StartStopState(isPlaying: isPlaying, beats: Beats(beats), timestamp: GhostTime(microseconds: timestamp))
    }

    @Test
    func `without sync, a start stays local`() {
        var rig = Rig()
        rig.join(Peer(7))
        rig.advance(milliseconds: 100)
        rig.forgetWhatWasSent()
        rig.edit { $0.setIsPlaying(true, at: $0.timeline.timeOrigin) }
        rig.advance(milliseconds: 300)
        #expect(rig.engine.sessionState.isPlaying)
        #expect(!rig.alives.isEmpty && rig.alives.allSatisfy { $0.announcement.startStop == .initial })
    }

    @Test
    func `without sync, a peer's start is passed on but not followed`() {
        var rig = Rig()
        var peer = Peer(7)
        rig.join(peer)
        rig.advance(milliseconds: 100)
        rig.forgetWhatWasSent()
        peer.announcement.startStop = state(true, timestamp: 61_000_000)
        rig.hear(peer)
        #expect(rig.alives.map(\.announcement.startStop) == [peer.announcement.startStop])
        #expect(!rig.engine.sessionState.isPlaying)
    }

    @Test
    func `with sync, a start is shared as a beat of the session with its request time`() {
        var rig = Rig()
        rig.setStartStopSync(true)
        rig.advance(milliseconds: 10_100)
        rig.forgetWhatWasSent()
        let later = rig.now.advanced(byMicroseconds: 400_000)
        rig.edit { $0.setIsPlaying(true, at: later) }
        #expect(rig.alives.map(\.announcement.startStop) == [state(true, timestamp: 10_100_000, beats: 21)])
    }

    @Test
    func `in one commit the timeline is applied first`() {
        var rig = Rig()
        rig.setStartStopSync(true)
        rig.advance(milliseconds: 10_100)
        rig.forgetWhatWasSent()
        let now = rig.now
        rig.edit {
            $0.setTempo(Tempo(beatsPerMinute: 60), at: now)
            $0.setIsPlaying(true, at: now.advanced(byMicroseconds: 400_000))
        }
        #expect(rig.alives.map(\.announcement.startStop) == [state(true, timestamp: 10_100_000, beats: 20.6)])
    }

    @Test
    func `only a later request counts`() {
        var rig = Rig()
        rig.setStartStopSync(true)
        var peer = Peer(7)
        rig.join(peer)
        let requests: [(Bool, Int64, Bool)] = [
            (true, 61_000_000, true), (false, 60_999_999, true), (false, 61_000_000, true),
            (false, 61_000_001, false),
        ]
        for (isPlaying, timestamp, expected) in requests {
            peer.announcement.startStop = state(isPlaying, timestamp: timestamp)
            rig.hear(peer)
            #expect(rig.engine.sessionState.isPlaying == expected)
        }
        // Beat 50 is ten beats of 600 ms after the peer's ghost time zero at beat 40.
        let ghostZero = 1_000_000_000 - 60_000_000
        #expect(rig.engine.sessionState.timeForIsPlaying.microseconds == Int64(ghostZero) + 6_000_000)
    }

    @Test
    func `playing from before joining is not followed, later changes are`() {
        var rig = Rig()
        rig.setStartStopSync(true)
        var peer = Peer(7)
        peer.announcement.startStop = state(true, timestamp: 50_000_000)
        rig.join(peer)
        rig.advance(milliseconds: 1000)
        rig.hear(peer)
        #expect(!rig.engine.sessionState.isPlaying)
        #expect(rig.alives.allSatisfy { $0.announcement.startStop == .initial })
        peer.announcement.startStop = state(true, timestamp: 61_500_000)
        rig.hear(peer)
        #expect(rig.engine.sessionState.isPlaying)
    }

    @Test(arguments: [(1_500.0, true), (1, false)])
    func `after a restart, playing is taken over from a session joined before the deadline`(
        milliseconds: Double, expected: Bool
    ) {
        var rig = Rig()
        rig.setStartStopSync(true)
        rig.resumePlaying(withinMilliseconds: milliseconds)
        var peer = Peer(7)
        peer.announcement.startStop = state(true, timestamp: 50_000_000)
        rig.join(peer)
        #expect(rig.engine.sessionState.isPlaying == expected)
        // Only once: after a stop, joining the session again starts nothing.
        rig.edit { $0.setIsPlaying(false, at: $0.timeline.timeOrigin) }
        rig.hear(peer, .byeBye)
        rig.join(peer)
        #expect(!rig.engine.sessionState.isPlaying)
    }

    @Test
    func `without sync, nothing is taken over after a restart`() {
        var rig = Rig()
        rig.resumePlaying(withinMilliseconds: 1_500)
        var peer = Peer(7)
        peer.announcement.startStop = state(true, timestamp: 50_000_000)
        rig.join(peer)
        #expect(!rig.engine.sessionState.isPlaying)
    }

    @Test
    func `joining or losing a session does not stop playing, which is not announced`() {
        var rig = Rig()
        rig.setStartStopSync(true)
        rig.edit { $0.setIsPlaying(true, at: $0.timeline.timeOrigin) }
        rig.join(Peer(7))
        #expect(rig.engine.sessionState.isPlaying)
        #expect(rig.alives.last?.announcement.startStop == .initial)
        rig.hear(Peer(7), .byeBye)
        #expect(rig.engine.sessionState.isPlaying)
        #expect(rig.announcement?.startStop == .initial)
    }

    @Test
    func `sync switched on later does not let a tempo change start the transport`() {
        var rig = Rig()
        var peer = Peer(7)
        rig.join(peer)
        peer.announcement.startStop = state(true, timestamp: 61_000_000)
        rig.hear(peer)
        rig.setStartStopSync(true)
        peer.announcement.timeline.beatOrigin = Beats(60)
        peer.announcement.timeline.tempo = Tempo(beatsPerMinute: 80)
        rig.hear(peer)
        #expect(rig.engine.sessionState.tempo.beatsPerMinute == 80)
        #expect(!rig.engine.sessionState.isPlaying)
    }

    @Test
    func `the beat of a followed start moves with the tempo`() {
        var rig = Rig()
        rig.setStartStopSync(true)
        var peer = Peer(7, tempo: 100, beatOrigin: 40)
        rig.join(peer)
        peer.announcement.startStop = state(true, timestamp: 61_000_000, beats: 160)
        rig.hear(peer)
        let before = rig.engine.sessionState.timeForIsPlaying
        // Beat 140 was at ghost second 60; at half the tempo from there, beat 160 comes twelve seconds later.
        peer.announcement.timeline = GhostTimeline(
            tempo: Tempo(beatsPerMinute: 50), beatOrigin: Beats(140), timeOrigin: GhostTime(microseconds: 60_000_000))
        rig.hear(peer)
        #expect(before.microseconds(to: rig.engine.sessionState.timeForIsPlaying) == 12_000_000)
    }

    @Test
    func `a local stop always works, whatever a peer's clock says`() {
        var rig = Rig()
        rig.setStartStopSync(true)
        var peer = Peer(7)
        rig.join(peer)
        peer.announcement.startStop = state(true, timestamp: 100_000_000)
        rig.hear(peer)
        #expect(rig.engine.sessionState.isPlaying)
        let now = rig.now
        rig.edit { $0.setIsPlaying(false, at: now) }
        #expect(!rig.engine.sessionState.isPlaying)
        rig.advance(milliseconds: 100)
        #expect(rig.alives.last?.announcement.startStop.timestamp.microseconds == 100_000_001)
    }

    @Test(arguments: [61_000_000, 119_000_000, 1 << 53, .max - 1, .max] as [Int64])
    func `a stamp ahead counts as now, so that it blocks nobody's stop`(stamp: Int64) {
        var rig = Rig()
        rig.setStartStopSync(true)
        var (forger, peer) = (Peer(7), Peer(8, session: NodeID(bits: 7)))
        rig.join(forger)
        rig.hear(peer)
        rig.advance(milliseconds: 900)
        forger.announcement.startStop = state(true, timestamp: stamp)
        rig.hear(forger)
        #expect(rig.engine.sessionState.isPlaying)
        #expect(rig.announcement?.startStop == forger.announcement.startStop, "it is passed on as it is")
        // One that comes later but was pressed before does not win.
        rig.advance(milliseconds: 500)
        peer.announcement.startStop = state(false, timestamp: 60_900_000)
        rig.hear(peer)
        #expect(rig.engine.sessionState.isPlaying)
        peer.announcement.startStop = state(false, timestamp: 61_300_000)
        rig.hear(peer)
        #expect(!rig.engine.sessionState.isPlaying)
        // The forged one is repeated by those who took it over.
        for _ in 0..<4 {
            rig.advance(milliseconds: 250)
            rig.hear(forger)
            #expect(!rig.engine.sessionState.isPlaying)
        }
    }

    @Test
    func `of two stamps ahead the later one wins, as it does in other peers`() {
        var rig = Rig()
        rig.setStartStopSync(true)
        var peer = Peer(7)
        rig.join(peer)
        for (isPlaying, stamp, result) in [(true, 1 << 60, true), (false, (1 << 60) - 1, true), (false, .max, false)]
            as [(Bool, Int64, Bool)]
        {
            peer.announcement.startStop = state(isPlaying, timestamp: stamp)
            rig.hear(peer)
            rig.advance(milliseconds: 100)
            #expect(rig.engine.sessionState.isPlaying == result)
        }
    }

    @Test
    func `a local stop wins over a forged stamp in other peers too, unless it is the last there is`() {
        for (forged, announced) in [(1 << 60, (1 << 60) + 1), (.max, 60_100_000)] as [(Int64, Int64)] {
            var rig = Rig()
            rig.setStartStopSync(true)
            var peer = Peer(7)
            rig.join(peer)
            peer.announcement.startStop = state(true, timestamp: forged)
            rig.hear(peer)
            let now = rig.now
            rig.edit { $0.setIsPlaying(false, at: now) }
            #expect(!rig.engine.sessionState.isPlaying)
            #expect(rig.announcement?.startStop.timestamp.microseconds == announced)
        }
    }

    @Test
    func `a repeated start request moves the start to its new time`() {
        var rig = Rig()
        rig.edit { $0.setIsPlaying(true, at: HostTime(microseconds: 1)) }
        rig.edit { $0.setIsPlaying(true, at: HostTime(microseconds: 2)) }
        #expect(rig.engine.sessionState.isPlaying)
        #expect(rig.engine.sessionState.timeForIsPlaying.microseconds == 2)
    }
}
