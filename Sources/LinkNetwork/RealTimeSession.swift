public import BeatTime
public import LinkSession
internal import RealTime

/// The session state for one real-time thread, such as an audio callback.
///
/// It takes no lock, allocates nothing and never waits.
///
/// The thread sees its own commits at once, and for one second it sees only these. This hides the rounded values that
/// come back through the session after an edit. Joining another session ends it at once for the timeline.
///
/// If ``LinkPeer/commit(_:)`` is called at the same time, either change may win; nothing else goes wrong.
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

    /// How long the thread sees its own commits instead of the session's state, in microseconds.
    private static let grace: Int64 = 1_000_000

    /// What the network thread publishes.
    private struct Seen: Sendable, BitwiseCopyable {
        var state: SessionState
        var isNetworking: Bool
        /// How many commits the state includes.
        var commits: UInt64
    }

    /// All commits that the network thread may not have read yet, merged into one.
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

    /// A copy of the state, to read, or to change and then ``commit(_:at:)``.
    ///
    /// Real-time thread only.
    ///
    /// - Parameter now: the current time, `HostTime.now()`.
    /// - Returns: the copy, a plain value.
    public func capture(at now: HostTime) -> SessionState {
        let newest = seen.withLatest { $0 }
        let isPending = newest.commits < commits
        var state = newest.state
        // A timeline from before a join belongs to another session.
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

    /// Applies the changes made to a captured state: here at once, in the session soon.
    ///
    /// Real-time thread only.
    ///
    /// Wakes the network thread with two system calls that do not block.
    ///
    /// - Parameters:
    ///   - state: a state from ``capture(at:)``, with changes; without changes, nothing happens.
    ///   - now: the current time.
    public func commit(_ state: SessionState, at now: HostTime) {
        guard state.hasTimelineChanged || state.hasStartStopChanged else { return }
        // The buffer holds only the newest commit. While an earlier one is pending, the new one includes its changes.
        let isPending = seen.withLatest { $0.commits } < commits
        let whole = isPending ? state.changed(from: own) : state
        if state.hasTimelineChanged { ownTimelineAt = now }
        if state.hasStartStopChanged { ownStartStopAt = now }
        own = whole
        commits += 1
        committed.publish(Commit(state: whole, time: now, number: commits))
        wakeUp.signal()
    }

    // The methods below are for the network thread only.

    /// Makes a newer state visible to the real-time thread.
    func publish(_ state: LinkState) {
        seen.publish(Seen(state: state.sessionState, isNetworking: state.isNetworking, commits: taken))
    }

    /// The commits since the last call, merged into one; nil if there are none.
    ///
    /// The caller applies and publishes them.
    func takeCommit() -> Commit? {
        let newest = committed.withLatest { $0 }
        guard newest.number > taken else { return nil }
        taken = newest.number
        return newest
    }
}
