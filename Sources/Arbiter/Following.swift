package import BeatTime
internal import LinkSession
internal import LoopGuard
internal import MIDIClock

/// How a leader's tick numbers relate to ours while it leads.
struct Following: Sendable {
    let source: ClockSource
    /// Added to the leader's number of a tick to get ours.
    var shift: Int64
    /// The shown beat at the map's tick origin.
    var beatOrigin: Beats
    /// When the current song began, as reported to the Link peer.
    var playingSince: HostTime?
    /// The leader's song at the last update of the map, and the time of that update.
    var song: FollowedSong
    var updatedAt: HostTime

    /// Shortest time between updates of the map, in microseconds.
    ///
    /// The map remembers 32 tempos, and an output may be half a second late.
    static let updatePeriod: Int64 = 20_000
}

// How a MIDI clock leader leads.
extension Arbiter {
    /// Decides from the received clocks who leads, and follows that clock.
    ///
    /// - Returns: an edit that hands the timeline over to the Link peer, if nobody leads any more.
    mutating func followLeader(at now: HostTime) -> SessionEdit? {
        guard let following else {
            begin(at: now)
            return nil
        }
        guard let leader = leaders[following.source], reasonToIgnore(following.source) == nil,
            !loopGuard.verdict(of: following.source).mustBeLeft
        else { return leave(at: now) }
        let isNewSong = leader.follower.song != following.song
        switch leader.follower.state {
        case .lost, .waiting: return leave(at: now, isSilent: true)
        case .settling:
            // Its tempo is uncertain now, but its Stop is not.
            self.following?.song = leader.follower.song
            if isNewSong { applySong(leader, at: now) }
        case .locked:
            let isDue = following.updatedAt.microseconds(to: now) >= Following.updatePeriod
            if isDue || isNewSong { update(leader, at: now) }
        }
        return nil
    }

    /// The leader to follow: the one that led before, else the first that is steady.
    private var candidate: ClockLeader? {
        let steady = leaders.all.filter {
            $0.follower.state == .locked && reasonToIgnore($0.source) == nil
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
        map.lock(to: leaderLine(leader, estimate, shift: shift, at: now), at: now)
        applySong(leader, at: now)
    }

    private mutating func update(_ leader: ClockLeader, at now: HostTime) {
        guard var following, let estimate = leader.follower.estimate else { return }
        let apart = line.position(at: now) - estimate.position(at: now) - Double(following.shift)
        // The leader has sent another number of ticks than we have. A song that plays must be realigned; without one,
        // renumbering is enough.
        if !transport.isPlaying { following.shift += roundedToInteger(apart) }
        following.updatedAt = now
        following.song = leader.follower.song
        self.following = following
        map.follow(leaderLine(leader, estimate, shift: following.shift, at: now), at: now)
        applySong(leader, at: now)
    }

    /// Where our ticks fall according to the leader's clock, numbered from the beginning of its song or as before.
    private func leaderLine(
        _ leader: ClockLeader, _ estimate: ClockEstimate, shift: Int64, at now: HostTime
    ) -> TickLine {
        var line = estimate.line
        let present = roundedToInteger(estimate.position(at: now))
        // The tempo is rounded to whole microseconds, so let the line pass through the present.
        line.timeOrigin = HostTime(microseconds: roundedToInteger(estimate.microseconds(ofTick: present)))
        line.tickOrigin = present + shift
        let top = leader.top.map { $0 + shift } ?? map.line.tickOrigin
        line.timeOrigin = line.time(ofTick: top)
        line.tickOrigin = top
        return line
    }

    /// Plays and stops as the leader does.
    private mutating func applySong(_ leader: ClockLeader, at now: HostTime) {
        guard var following else { return }
        if let top = leader.top {
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

    /// Plays or stops on request of the user or a remote control.
    ///
    /// With Link the session decides when; alone it is the next tick.
    ///
    /// - Parameters:
    ///   - isPlaying: whether to play.
    ///   - reach: how soon every output can play, in microseconds.
    ///   - now: the present host time.
    /// - Returns: an edit for the Link peer; nil if a leader is followed, see ``transportLeaderName``.
    package mutating func setPlaying(_ isPlaying: Bool, reach: Int64, at now: HostTime) -> SessionEdit? {
        guard transportLeaderName == nil else { return nil }
        guard var following else { return isPlaying ? .play(reach: reach) : .stop }
        if isPlaying, !transport.isPlaying, let leader = leaders[following.source], let top = leader.playingTop {
            // Its song plays, though it leaves the transport to the user: this joins in.
            transport.startTick = top + following.shift
            (following.beatOrigin, following.playingSince) = (.zero, line.time(ofTick: transport.startTick))
        } else if isPlaying, !transport.isPlaying {
            // As without a leader: the tick becomes beat 0, and no tick moves.
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

    /// Gives play and stop back to the user, until a leader sends Start, Continue or Stop again.
    package mutating func giveTransportBack() { leaders.giveTransportBack() }

    /// Lets the Link peer continue where the leading clock is; nil if none leads.
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

    /// Continues alone at the leader's last tempo, unless another leader can be followed.
    ///
    /// The song stops if the leader has fallen silent and the user wants that.
    private mutating func leave(at now: HostTime, isSilent: Bool = false) -> SessionEdit? {
        guard let handOver else { return nil }
        // The next leader begins where this one has ended.
        handOver.apply(to: &link.state, at: now)
        following = nil
        begin(at: now)
        guard following == nil else { return nil }
        guard isSilent, stopsWhenLost, transport.isPlaying else { return handOver }
        transport.isPlaying = false
        return .goOn(link.state.timeline, playingSince: nil)
    }
}

extension ClockLeader {
    /// The tick that is beat 0 of the leader's song; nil before its first Start or Continue.
    ///
    /// It is that of the song that plays or is about to play, otherwise of the last song. A song that does not play while
    /// the leader leaves the transport to the user does not count: the user's may.
    fileprivate var top: Int64? { controlsTransport ? newestTop : playingTop }

    /// The same while its song plays or is about to play; else nil.
    fileprivate var playingTop: Int64? { follower.song.motion == .stopped ? nil : newestTop }

    private var newestTop: Int64? {
        let song = follower.song
        return song.motion == .pending ? follower.nextTick - song.resumePosition : song.origin
    }
}
