package import BeatTime
internal import LinkSession
internal import LoopGuard
internal import MIDIClock

/// How a leader's count of ticks stands to ours while it leads.
struct Following: Sendable {
    let source: ClockSource
    /// What makes our number of a tick out of the leader's.
    var shift: Int64
    /// The shown beat at the map's tick origin.
    var beatOrigin: Beats
    /// When the song that plays began, as the Link peer is told.
    var playingSince: HostTime?
    /// What the leader's song was when the map was last brought up to date, and when that was.
    var song: FollowedSong
    var updatedAt: HostTime

    /// The map is brought up to date so often at most, in microseconds: it remembers 32 tempos, and an output may be half
    /// a second late.
    static let updatePeriod: Int64 = 20_000
}

// How a MIDI clock leader leads.
extension Arbiter {
    /// Lets the clocks that come in say who leads, and how fast.
    ///
    /// - Returns: an edit that hands the timeline over to the Link peer, if nobody leads any more.
    mutating func followLeader(at now: HostTime) -> SessionEdit? {
        guard !isLinkLeading else { return nil }
        guard let following else {
            begin(at: now)
            return nil
        }
        guard let leader = leaders[following.source], refusal(of: following.source) == nil,
            !loopGuard.verdict(of: following.source).mustBeLeft
        else { return leave(at: now) }
        let isNewSong = leader.follower.song != following.song
        switch leader.follower.state {
        case .lost, .waiting: return leave(at: now, isSilent: true)
        case .settling:
            // Its tempo is doubtful just now, its Stop is not.
            self.following?.song = leader.follower.song
            if isNewSong { applySong(leader, at: now) }
        case .locked:
            let isDue = following.updatedAt.microseconds(to: now) >= Following.updatePeriod
            if isDue || isNewSong { update(leader, at: now) }
        }
        return nil
    }

    /// The leader to follow from now on: the one that led before, else the first that is steady.
    private var candidate: ClockLeader? {
        let steady = leaders.all.filter {
            $0.follower.state == .locked && refusal(of: $0.source) == nil
                && loopGuard.verdict(of: $0.source).mayBeFollowed
        }
        return steady.first { $0.source == lastLeader } ?? steady.first
    }

    private mutating func begin(at now: HostTime) {
        guard let leader = candidate, let estimate = leader.follower.estimate else { return }
        let shift = roundedToInteger(line.position(at: now) - estimate.position(at: now))
        following = Following(
            source: leader.source, shift: shift, beatOrigin: link.state.timeline.beatOrigin, playingSince: nil,
            song: leader.follower.song, updatedAt: now)
        if transport.isPlaying { following?.playingSince = link.state.timeForIsPlaying }
        lastLeader = leader.source
        map.lock(to: leaderLine(leader.follower, estimate, shift: shift, at: now), at: now)
        applySong(leader, at: now)
    }

    private mutating func update(_ leader: ClockLeader, at now: HostTime) {
        guard var following, let estimate = leader.follower.estimate else { return }
        let apart = line.position(at: now) - estimate.position(at: now) - Double(following.shift)
        // Ticks that the leader has sent otherwise than we did: a song that plays has to find its place again, and
        // when none does, nobody need notice.
        if !transport.isPlaying { following.shift += roundedToInteger(apart) }
        following.updatedAt = now
        following.song = leader.follower.song
        self.following = following
        map.follow(leaderLine(leader.follower, estimate, shift: following.shift, at: now), at: now)
        applySong(leader, at: now)
    }

    /// Where our ticks fall by the leader's, counted from the beat that it says is the first, or from ours.
    private func leaderLine(
        _ follower: ClockFollower, _ estimate: ClockEstimate, shift: Int64, at now: HostTime
    ) -> TickLine {
        var line = estimate.line
        let present = roundedToInteger(estimate.position(at: now))
        // The tempo is rounded to whole microseconds, so the line is laid through the present.
        line.timeOrigin = HostTime(microseconds: roundedToInteger(estimate.microseconds(ofTick: present)))
        line.tickOrigin = present + shift
        let top = follower.nextTop.map { $0 + shift } ?? map.line.tickOrigin
        line.timeOrigin = line.time(ofTick: top)
        line.tickOrigin = top
        return line
    }

    /// Plays and stops as the leader does.
    private mutating func applySong(_ leader: ClockLeader, at now: HostTime) {
        guard var following else { return }
        if let top = leader.follower.nextTop {
            following.beatOrigin = .zero
            let isPlaying = leader.follower.song.motion != .stopped
            if isPlaying, !transport.isPlaying || transport.startTick != top + following.shift {
                transport.startTick = top + following.shift
                following.playingSince = line.time(ofTick: transport.startTick)
            }
        }
        if leader.controlsTransport { transport.isPlaying = leader.follower.song.motion != .stopped }
        if !transport.isPlaying { following.playingSince = nil }
        self.following = following
    }

    /// Plays or stops, as the user or a remote control asks: with Link as the session does it, alone from the next tick.
    ///
    /// - Parameters:
    ///   - isPlaying: whether to play.
    ///   - reach: how soon every output can play, in microseconds.
    ///   - now: the present host time.
    /// - Returns: an edit that does it; nil if that is done already, or a leader does it, see ``transportLeaderName``.
    package mutating func setPlaying(_ isPlaying: Bool, reach: Int64, at now: HostTime) -> SessionEdit? {
        guard transportLeaderName == nil else { return nil }
        guard var following else { return isPlaying ? .play(reach: reach) : .stop }
        if isPlaying, !transport.isPlaying {
            // As without a leader: the tick becomes beat 0, and none moves.
            var line = line
            line.tickOrigin = line.firstTick(atOrAfter: now.advanced(byMicroseconds: reach))
            line.timeOrigin = map.line.time(ofTick: line.tickOrigin)
            map.restate(line)
            transport.startTick = line.tickOrigin
            (following.beatOrigin, following.playingSince) = (.zero, line.timeOrigin)
        } else if !isPlaying {
            following.playingSince = nil
        }
        transport.isPlaying = isPlaying
        self.following = following
        return nil
    }

    /// Has the Link peer go on where the clock that leads is; nil if none does.
    var handOver: SessionEdit? {
        following.map { .goOn(timeline(of: $0), playingSince: $0.playingSince) }
    }

    private func timeline(of following: Following) -> HostTimeline {
        HostTimeline(
            tempo: Tempo(microsecondsPerBeat: line.microsecondsPerBeat), beatOrigin: following.beatOrigin,
            timeOrigin: line.timeOrigin)
    }

    /// The timeline of whoever leads, for display.
    package var timeline: HostTimeline { following.map(timeline(of:)) ?? link.state.timeline }

    /// Goes on alone at the leader's last tempo, unless there is another to follow; and stops if it has fallen silent
    /// and the user wants that.
    private mutating func leave(at now: HostTime, isSilent: Bool = false) -> SessionEdit? {
        guard let handOver else { return nil }
        // Another clock that leads begins where this one has ended.
        handOver.apply(to: &link.state, at: now)
        following = nil
        begin(at: now)
        guard following == nil else { return nil }
        guard isSilent, stopsWhenLost, transport.isPlaying else { return handOver }
        transport.isPlaying = false
        return .goOn(link.state.timeline, playingSince: nil)
    }
}

extension ClockFollower {
    /// The tick that is beat 0 of the leader's song: of the one that plays or is about to, else of the last; nil before
    /// the first Start or Continue.
    fileprivate var nextTop: Int64? {
        song.motion == .pending ? nextTick - song.resumePosition : song.origin
    }
}
