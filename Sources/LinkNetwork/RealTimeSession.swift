public import BeatTime
public import LinkSession
internal import RealTime

/// The session state for one real-time thread, such as an audio callback: no lock, no allocation, no waiting.
///
/// What the thread commits it sees at once. For a second afterwards it goes on seeing its own, so that the echo of an
/// edit that comes back through the session, rounded, disturbs nothing; unless another session has been joined.
///
/// Changes made here and by ``LinkPeer/commit(_:)`` at the same time do no harm, but which of them wins is chance.
///
/// ```swift
/// let peer = try LinkPeer(tempo: Tempo(beatsPerMinute: 120))
/// let session = peer.realTime
/// let now = HostTime.now()
/// var state = session.capture(at: now)
/// state.setIsPlaying(true, at: now)
/// session.commit(state, at: now)
/// assert(session.capture(at: now).isPlaying)
/// ```
public final class RealTimeSession: @unchecked Sendable {
    // Safe because `capture` and `commit` are called by one real-time thread, which alone touches `own` and the counts
    // below it; `publish` and `takeCommit` by the network thread, which alone touches `taken`. Between them are two
    // triple buffers, each with one writer and one reader.
    private let seen: TripleBuffer<Seen>
    private let committed: TripleBuffer<Commit>
    private let wakeUp: WakeUp

    private var own: SessionState
    private var ownTimelineAt: HostTime?
    private var ownStartStopAt: HostTime?
    private var commits: UInt64 = 0

    private var taken: UInt64 = 0

    /// How long a thread sees what it has committed itself, in microseconds.
    private static let grace: Int64 = 1_000_000

    /// What the network thread shows.
    private struct Seen: Sendable, BitwiseCopyable {
        var state: SessionState
        var isNetworking: Bool
        /// How many commits the state takes account of.
        var commits: UInt64
    }

    /// All that has been committed and that the network thread may not have seen yet.
    struct Commit: Sendable, BitwiseCopyable {
        var state: SessionState
        var time: HostTime
        var number: UInt64
    }

    init(_ initial: LinkState, wakeUp: WakeUp) {
        seen = TripleBuffer(Seen(state: initial.sessionState, isNetworking: initial.isNetworking, commits: 0))
        committed = TripleBuffer(Commit(state: initial.sessionState, time: .now(), number: 0))
        self.wakeUp = wakeUp
        own = initial.sessionState
    }

    /// The state to read, or to change and ``commit(_:at:)``; the real-time thread only.
    ///
    /// - Parameter now: the present time; `HostTime.now()` unless the thread knows it already.
    /// - Returns: a plain value.
    public func capture(at now: HostTime) -> SessionState {
        let newest = seen.withLatest { $0 }
        let isPending = newest.commits < commits
        var state = newest.state
        // In another session the old one's timeline means nothing.
        if state.joinsBefore == own.joinsBefore, isPending || isRecent(ownTimelineAt, newest, at: now) {
            state.timeline = own.timeline
        }
        if isPending || isRecent(ownStartStopAt, newest, at: now) {
            state.isPlaying = own.isPlaying
            state.timeForIsPlaying = own.timeForIsPlaying
        }
        return state.recaptured
    }

    private func isRecent(_ time: HostTime?, _ newest: Seen, at now: HostTime) -> Bool {
        guard let time, newest.isNetworking else { return false }
        return time.microseconds(to: now) <= Self.grace
    }

    /// Makes the changes to a captured state take effect, here at once and in the session soon; the real-time thread
    /// only.
    ///
    /// It costs two system calls, which wake the network thread and wait for nobody.
    ///
    /// - Parameters:
    ///   - state: what ``capture(at:)`` returned, changed.
    ///   - now: the present time.
    public func commit(_ state: SessionState, at now: HostTime) {
        guard state.hasTimelineChanged || state.hasStartStopChanged else { return }
        // Only the newest commit is handed over. While an earlier one is under way it has to tell of both.
        let isPending = seen.withLatest { $0.commits } < commits
        let whole = isPending ? state.changed(from: own) : state
        if state.hasTimelineChanged { ownTimelineAt = now }
        if state.hasStartStopChanged { ownStartStopAt = now }
        own = whole
        commits += 1
        committed.publish(Commit(state: whole, time: now, number: commits))
        wakeUp.signal()
    }

    // The network thread only.

    /// Shows the real-time thread a newer state.
    func publish(_ state: LinkState) {
        seen.publish(Seen(state: state.sessionState, isNetworking: state.isNetworking, commits: taken))
    }

    /// What has been committed since the last time, to be carried out and then published.
    func takeCommit() -> Commit? {
        let newest = committed.withLatest { $0 }
        guard newest.number > taken else { return nil }
        taken = newest.number
        return newest
    }
}
