import BeatTime
import LinkNetwork
import LinkSession
import RealTime

/// What an audio callback does with a session: it captures, asks, changes and commits.
enum AudioCallback {
    /// Runs it on a thread of its own, named `audio-callback`; the peer is off the network.
    ///
    /// - Parameter count: how often, at least once.
    /// - Throws: what keeps a peer or a thread from being made.
    static func run(_ count: Int) throws {
        let peer = try LinkPeer(tempo: Tempo(beatsPerMinute: 120))
        let link = peer.realTime
        let thread = try RealTimeThread(name: "audio-callback", priority: 0) {
            for number in 1...count { call(link, number) }
        }
        thread.join()
        peer.close()
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
