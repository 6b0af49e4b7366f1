import BeatTime
import Glibc
import LinkNetwork
import LinkSession
import RealTime
import Synchronization

/// What an audio callback does with a session: it captures, asks, changes and commits.
enum AudioCallback {
    /// Runs it on a thread of its own, named `audio-callback`; the peer is off the network.
    ///
    /// - Parameter count: how often, at least once.
    /// - Throws: what keeps a peer or a thread from being made.
    static func run(_ count: Int) throws {
        let peer = try LinkPeer(tempo: Tempo(beatsPerMinute: 120))
        let link = peer.realTime
        let hasBegun = Flag()
        let thread = try RealTimeThread(name: "audio-callback", priority: 0) {
            // By then nobody else holds what the thread frees at its end, so it always frees the same.
            while !hasBegun.isSet.load(ordering: .acquiring) { sched_yield() }
            for number in 1...count { call(link, number) }
        }
        hasBegun.isSet.store(true, ordering: .releasing)
        thread.join()
        peer.close()
    }

    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    private static func call(_ link: RealTimeSession, _ number: Int) {
        let (now, quantum) = (HostTime.now(), Beats(4))
        var state = link.capture(at: now)
        let next = state.time(ofBeat: state.beat(at: now, quantum: quantum) + Beats(1), quantum: quantum)
        state.setTempo(Tempo(beatsPerMinute: Double(60 + number % 100)), at: next)
        state.setIsPlaying(number % 2 == 0, at: next, requesting: .zero, quantum: quantum)
        if number % 3 == 0 { state.forceBeat(.zero, at: next, quantum: quantum) }
        link.commit(state, at: now)
    }
}
