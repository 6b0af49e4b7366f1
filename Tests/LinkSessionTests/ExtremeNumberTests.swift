import BeatTime
import LinkSession
import Testing

/// Numbers that no program comes to by itself: official peers take and repeat them, so they must not part us.
@Suite
struct ExtremeNumberTests {
    private static let numbers: [Int64] = [
        .min, .min + 1, -(1 << 62), -(1 << 53) - 1, -1, 0, 1, (1 << 53) + 1, 1 << 57, 1 << 60, 1 << 62, .max - 1, .max,
    ]

    private func timeline(_ beatOrigin: Int64, _ timeOrigin: Int64, length: Int64 = 400_000) -> GhostTimeline {
        GhostTimeline(
            tempo: Tempo(microsecondsPerBeat: length).clamped, beatOrigin: Beats(microbeats: beatOrigin),
            timeOrigin: GhostTime(microseconds: timeOrigin))
    }

    /// The session's beat at a ghost time, exactly, in millionths; sums and differences of times and beats wrap around.
    private func exactBeat(_ timeline: GhostTimeline, at time: Int64, quantum: Int64) -> Double {
        let length = Int128(timeline.tempo.microsecondsPerBeat)
        let (beats, origin) = (timeline.beatOrigin.microbeats, timeline.timeOrigin.microseconds)
        let zero = Int128(origin) - Int128(beats) * length / 1_000_000
        let elapsed = Int128(time &- Int64(truncatingIfNeeded: zero))
        let cycle = Int128(quantum) * length
        return Double((elapsed % cycle + cycle) % cycle) / Double(length)
    }

    @Test
    func `a peer counts as present whatever numbers it announces, and its session goes on`() {
        var rig = Rig()
        rig.setStartStopSync(true)
        var peer = Peer(7)
        rig.join(peer)
        for number in Self.numbers {
            peer.announcement.timeline = timeline(number, 0 &- number)
            for beats in [0, number] {
                peer.announcement.startStop = StartStopState(
                    isPlaying: true, beats: Beats(microbeats: beats), timestamp: GhostTime(microseconds: number))
                for _ in 0..<8 {
                    rig.hear(peer)
                    rig.advance(milliseconds: 1000)
                    #expect(rig.engine.peerCount == 1 && rig.engine.sessionID == peer.node)
                    let line = rig.engine.sessionState.timeline
                    #expect(abs(line.beatOrigin.microbeats) <= 1 << 53 && abs(line.timeOrigin.microseconds) <= 1 << 53)
                }
            }
        }
        #expect(rig.engine.refusedDatagrams == 0)
    }

    @Test(arguments: [1 << 53, (1 << 53) + 1, 1 << 57, -(1 << 57), 1 << 60, 1 << 61] as [Int64])
    func `a distant timeline is followed, beat for beat`(distance: Int64) {
        for (beatOrigin, timeOrigin) in [(distance.magnitude, Int64(0)), (1 << 40, distance), (1 << 55, 0 &- distance)]
        {
            var rig = Rig()
            var peer = Peer(7)
            rig.join(peer)
            peer.announcement.timeline = timeline(Int64(beatOrigin), timeOrigin)
            let before = rig.engine.sessionState.timeline.beats(at: rig.now)
            rig.hear(peer)
            var state = rig.engine.sessionState
            #expect(state.tempo.beatsPerMinute == 150)
            #expect(abs((state.timeline.beats(at: rig.now) - before).microbeats) <= 1, "our own count goes on")
            for _ in 0..<5 {
                rig.advance(milliseconds: 777)
                state = rig.engine.sessionState
                let ghost = rig.now.microseconds - 1_000_000_000 + 60_000_000
                for quantum in [1, 4, 7, 16] as [Int64] {
                    let phase = state.phase(at: rig.now, quantum: Beats(Double(quantum))).value
                    let exact = exactBeat(peer.announcement.timeline, at: ghost, quantum: quantum)
                    let apart = abs(phase - exact)
                    #expect(min(apart, Double(quantum) - apart) < 0.00005, "\(quantum) \(phase) \(exact)")
                }
            }
        }
    }

    @Test
    func `priorities are compared as whole numbers of 64 bits`() {
        var rig = Rig()
        var peer = Peer(7)
        rig.join(peer)
        let priorities: [Int64] = [1 << 53, (1 << 53) + 1, 1 << 62, (1 << 62) + 1, .max - 1, .max]
        for (step, priority) in priorities.enumerated() {
            peer.announcement.timeline = timeline(priority, 0, length: 400_000 + Int64(step))
            rig.hear(peer)
            #expect(rig.engine.sessionState.tempo.microsecondsPerBeat == 400_000 + Int64(step))
            #expect(rig.announcement?.timeline == peer.announcement.timeline, "it is passed on as it is")
            peer.announcement.timeline = timeline(priority - 1, 0, length: 500_000)
            rig.hear(peer)
            #expect(rig.engine.sessionState.tempo.microsecondsPerBeat == 400_000 + Int64(step))
        }
    }

    @Test(arguments: [1 << 53, 1 << 57, 1 << 60] as [Int64])
    func `an edit wins over a distant timeline, and moves no beat`(priority: Int64) {
        var rig = Rig()
        var peer = Peer(7)
        rig.join(peer)
        peer.announcement.timeline = timeline(priority, 0)
        rig.hear(peer)
        let (now, before) = (rig.now, rig.engine.sessionState)
        rig.edit { $0.setTempo(Tempo(beatsPerMinute: 100), at: now) }
        let announced = rig.announcement?.timeline
        #expect(rig.refusals.isEmpty)
        #expect(announced.map { $0.beatOrigin.microbeats > priority } == true)
        #expect(announced?.tempo.beatsPerMinute == 100)
        let state = rig.engine.sessionState
        let moved = state.phase(at: now, quantum: Beats(4)) - before.phase(at: now, quantum: Beats(4))
        #expect(abs(moved.microbeats) <= 10)
        // And so for a peer that follows what was announced.
        let ghost = now.microseconds - 1_000_000_000 + 60_000_000
        let theirs = announced.map { exactBeat($0, at: ghost, quantum: 4) } ?? -1
        #expect(abs(theirs - state.phase(at: now, quantum: Beats(4)).value) < 0.00005)
    }

    @Test
    func `an edit that no peer would follow is refused, and playing can still be stopped`() {
        var rig = Rig()
        rig.setStartStopSync(true)
        var peer = Peer(7)
        rig.join(peer)
        peer.announcement.timeline = timeline(.max, 0)
        peer.announcement.startStop = StartStopState(
            isPlaying: true, beats: .zero, timestamp: GhostTime(microseconds: .max))
        rig.hear(peer)
        #expect(rig.engine.sessionState.isPlaying)
        let (now, state) = (rig.now, rig.engine.sessionState)
        rig.edit { $0.setTempo(Tempo(beatsPerMinute: 100), at: now) }
        rig.edit { $0.setIsPlaying(false, at: now.advanced(byMicroseconds: 1 << 50)) }
        #expect(rig.refusals == [.nothingCanWin, .outOfReach])
        #expect(rig.engine.sessionState == state)
        rig.edit { $0.setIsPlaying(false, at: now) }
        for _ in 0..<10 {
            rig.advance(milliseconds: 500)
            rig.hear(peer)
            #expect(!rig.engine.sessionState.isPlaying)
        }
    }

    @Test
    func `a session founded after such a one has ordinary numbers, and its grid goes on`() {
        for beatOrigin in [1 << 54, 1 << 60, .max] as [Int64] {
            var rig = Rig()
            var peer = Peer(7)
            rig.join(peer)
            peer.announcement.timeline = timeline(beatOrigin, 1 << 58)
            rig.hear(peer)
            let before = rig.engine.sessionState
            rig.hear(peer, .byeBye)
            let (state, announced) = (rig.engine.sessionState, rig.announcement?.timeline)
            #expect(rig.engine.sessionID != peer.node)
            #expect(announced.map { abs($0.beatOrigin.microbeats) < 1 << 53 } == true)
            #expect(state.tempo == before.tempo)
            for quantum in [0, 1, 4, 12] as [Double] {
                let at = rig.now.advanced(byMicroseconds: 123_456)
                let moved = state.phase(at: at, quantum: Beats(quantum)) - before.phase(at: at, quantum: Beats(quantum))
                #expect(abs(moved.microbeats) <= 4)
            }
            let now = rig.now
            rig.edit { $0.setTempo(Tempo(beatsPerMinute: 77), at: now) }
            #expect(rig.refusals.isEmpty)
        }
    }

    @Test(arguments: [1 << 53, 1 << 57, 1 << 62, .max - 10_000_000_000] as [Int64])
    func `a session of any age is joined, and its clock is known to the microsecond`(age: Int64) throws {
        var rig = Rig()
        let peer = Peer(7, tempo: 60, beatOrigin: 0, timeOrigin: age)
        rig.responders[peer.measurementEndpoint] = .init(session: peer.node, intercept: age - rig.now.microseconds)
        rig.hear(peer)
        rig.advance(milliseconds: 2000)
        rig.hear(peer)
        rig.advance(milliseconds: 2000)
        #expect(rig.engine.sessionID == peer.node)
        // Its beat 0 was when the test began.
        #expect(abs(rig.engine.sessionState.timeline.timeOrigin.microseconds - 1_000_000_000) <= 1)
        let error = try #require(rig.engine.measurementErrorMicroseconds(at: rig.now))
        #expect(error < 1000)
    }

    @Test
    func `no number in any field stops an engine or makes its beats jump`() {
        for first in Self.numbers {
            for second in Self.numbers {
                var rig = Rig()
                rig.setStartStopSync(true)
                var peer = Peer(7)
                rig.responders[peer.measurementEndpoint] = .init(session: peer.node, intercept: first)
                peer.announcement.timeline = timeline(first, second, length: second)
                peer.announcement.startStop = StartStopState(
                    isPlaying: true, beats: Beats(microbeats: second), timestamp: GhostTime(microseconds: first))
                for step in 0..<6 {
                    let before = rig.engine.sessionState.timeline.beats(at: rig.now)
                    rig.hear(peer)
                    #expect(abs((rig.engine.sessionState.timeline.beats(at: rig.now) - before).microbeats) <= 1)
                    rig.advance(milliseconds: 300)
                    let now = rig.now
                    rig.edit { $0.setIsPlaying(step % 2 == 0, at: now) }
                    rig.edit { $0.setTempo(Tempo(beatsPerMinute: 90 + Double(step)), at: now) }
                    rig.edit { $0.requestBeat(.zero, at: now, quantum: Beats(4)) }
                    let line = rig.engine.sessionState.timeline
                    #expect(abs(line.beatOrigin.microbeats) <= 1 << 53 && abs(line.timeOrigin.microseconds) <= 1 << 53)
                }
            }
        }
    }

    @Test
    func `who announces such numbers in our session is named as long as they are heard`() {
        var rig = Rig()
        var peer = Peer(7)
        rig.join(peer)
        rig.advance(milliseconds: 1000)
        rig.hear(peer)
        #expect(rig.engine.extreme == nil)
        peer.announcement.timeline = timeline(1 << 54, 0)
        rig.hear(peer)
        #expect(rig.engine.extreme?.source == peer.source.address)
        rig.hear(peer, .byeBye)
        rig.advance(milliseconds: 31_000)
        #expect(rig.engine.extreme == nil)
    }
}
