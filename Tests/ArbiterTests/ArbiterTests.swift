import BeatTime
import LinkSession
import MIDIClock
import Testing

@testable import Arbiter

@Suite
struct ArbiterTests {
    @Test
    func `switching Link changes the mode and not one tick`() {
        var gateway = LoneGateway(tempo: 133.7)
        let line = gateway.arbiter.line
        #expect(gateway.arbiter.mode == .internal)
        gateway.setLink(true, at: 5_000_001)
        #expect(gateway.arbiter.mode == .link)
        #expect(gateway.arbiter.line.isWithinMicrosecond(of: line, around: 5_000_001))
        gateway.setLink(false, at: 9_000_007)
        #expect(gateway.arbiter.mode == .internal)
        #expect(gateway.arbiter.line.isWithinMicrosecond(of: line, around: 9_000_007))
    }

    @Test(arguments: [0, 0.5, 0.7, 3, 4, 7])
    func `alone play makes the next tick within reach beat 0 and moves no tick`(quantum: Double) throws {
        var gateway = LoneGateway(tempo: 97.3, quantum: quantum)
        let line = gateway.arbiter.line
        gateway.edit(.play, at: 7_654_321)
        let transport = gateway.arbiter.transport
        #expect(transport.isPlaying)
        #expect(transport.startTick == line.firstTick(atOrAfter: HostTime(microseconds: 7_654_321 + LoneGateway.reach)))
        #expect(gateway.arbiter.line.isWithinMicrosecond(of: line, around: 7_654_321))
        let top = gateway.arbiter.line.time(ofTick: transport.startTick)
        #expect(abs(gateway.engine.sessionState.beat(at: top, quantum: Beats(quantum)).microbeats) <= 2)
    }

    @Test
    func `playing and stopping repeatedly never moves a tick`() {
        var gateway = LoneGateway(tempo: 174)
        let line = gateway.arbiter.line
        for round in 1...200 {
            let now = Int64(round) * 1_234_567
            gateway.edit(round % 2 == 1 ? .play : .stop, at: now)
            #expect(gateway.arbiter.line.isNear(line, around: now, microseconds: Int64(round)))
            #expect(gateway.arbiter.transport.isPlaying == (round % 2 == 1))
        }
    }

    @Test
    func `a change of tempo keeps the song and its tick numbers`() {
        var gateway = LoneGateway(tempo: 120)
        gateway.edit(.play, at: 1_000_000)
        let transport = gateway.arbiter.transport
        let before = gateway.arbiter.line.position(at: HostTime(microseconds: 4_000_000))
        gateway.edit(.setTempo(Tempo(beatsPerMinute: 999)), at: 4_000_000)
        let after = gateway.arbiter.line.position(at: HostTime(microseconds: 4_000_000))
        #expect(abs(before - after) < 0.001)
        #expect(gateway.arbiter.transport == transport)
    }

    @Test
    func `play while playing and stop while stopped change nothing`() {
        var gateway = LoneGateway(tempo: 120)
        gateway.edit(.stop, at: 500_000)
        #expect(!gateway.arbiter.transport.isPlaying)
        gateway.edit(.play, at: 1_000_000)
        let transport = gateway.arbiter.transport
        gateway.edit(.play, at: 3_000_000)
        #expect(gateway.arbiter.transport == transport)
    }
}

/// A gateway with nobody else on the network: engine and arbiter, in virtual time.
struct LoneGateway {
    /// How soon a plain output can play, in microseconds.
    static let reach = SessionEdit.propagationTime + OutputSettings().reach(microsecondsPerBeat: 500_000)

    var engine: Engine
    var arbiter: Arbiter

    init(tempo: Double, quantum: Double = 4) {
        engine = Engine(tempo: Tempo(beatsPerMinute: tempo), seed: 1, at: HostTime(microseconds: 1_000))
        arbiter = Arbiter(LinkView(engine), quantum: Beats(quantum), following: .none, seed: 1)
    }

    mutating func setLink(_ isEnabled: Bool, at now: Int64) {
        if let handOver = arbiter.linkSwitched(on: isEnabled) { edit(handOver, at: now) }
        _ = engine.setEnabled(isEnabled, at: HostTime(microseconds: now))
        hear(at: now)
    }

    mutating func edit(_ edit: SessionEdit, at now: Int64) {
        commit(edit, at: now)
        hear(at: now)
    }

    /// Makes an edit that the arbiter has not seen yet.
    mutating func commit(_ edit: SessionEdit, at now: Int64) {
        arbiter.asked(for: edit, at: HostTime(microseconds: now))
        _ = try? engine.edit(at: HostTime(microseconds: now)) { edit.apply(to: &$0, at: HostTime(microseconds: now)) }
    }

    mutating func hear(at now: Int64) {
        if let answer = arbiter.linkChanged(LinkView(engine), at: HostTime(microseconds: now)) {
            edit(answer, at: now)
        }
    }
}

extension SessionEdit {
    static let play = SessionEdit.play(reach: LoneGateway.reach)
}

extension LinkView {
    init(_ engine: Engine) {
        self.init(
            state: engine.sessionState, isEnabled: engine.isEnabled, switchings: engine.switchings, edits: engine.edits,
            sessionID: engine.sessionID, clockSteps: engine.clockSteps)
    }
}

extension TickLine {
    /// Whether ticks near a time have the same numbers and times, apart from rounding.
    func isNear(_ other: TickLine, around time: Int64, microseconds: Int64) -> Bool {
        let tick = other.nearestTick(to: HostTime(microseconds: time))
        return (tick - 50...tick + 50).allSatisfy {
            abs(self.time(ofTick: $0).microseconds(to: other.time(ofTick: $0))) <= microseconds
        }
    }

    func isWithinMicrosecond(of other: TickLine, around time: Int64) -> Bool {
        isNear(other, around: time, microseconds: 1)
    }
}
