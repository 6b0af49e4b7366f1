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
    /// The leader's song as last applied, and the count of its starts when it last began to play.
    var song: FollowedSong
    var starts: UInt32
    /// When the map was last updated.
    var updatedAt: HostTime

    /// Shortest time between updates of the map, in microseconds.
    ///
    /// The map remembers 32 tempos, and an output may be half a second late.
    static let updatePeriod: Int64 = 20_000
    /// How far a song that plays slews to its leader's place, in ticks; beyond that it is realigned.
    static let farthestSlew = TickLine.ticksPerBeat / 2
    /// Distance from the leader, beyond the coarseness of its ticks, from which on outputs hurry, in microseconds.
    static let tolerance: Int64 = 2_000
    /// Usual time until a change reaches the output thread, in microseconds.
    static let margin: Int64 = 1_000
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
        guard let leader = tracked[following.source], reasonToIgnore(following.source) == nil,
            !loopGuard.verdict(of: following.source).mustBeLeft
        else { return leave(at: now) }
        let isNewSong = leader.follower.song != following.song
        switch leader.follower.state {
        case .lost, .waiting: return leave(at: now, isSilent: true)
        case .settling:
            // Its tempo is uncertain now, but its Stop is not.
            if isNewSong { applySong(leader, at: now) }
        case .locked:
            let isDue = following.updatedAt.microseconds(to: now) >= Following.updatePeriod
            if isDue || isNewSong { update(leader, at: now) }
        }
        return nil
    }

    /// The leader to follow: the one that led before, else the first that is steady.
    private var candidate: TrackedSource? {
        let steady = tracked.all.filter {
            $0.follower.state == .locked && reasonToIgnore($0.source) == nil
                && loopGuard.verdict(of: $0.source).mayBeFollowed
        }
        return steady.first { $0.source == lastLeader } ?? steady.first
    }

    private mutating func begin(at now: HostTime) {
        guard let leader = candidate, let estimate = leader.follower.estimate else { return }
        let song = leader.follower.song
        let shift = roundedToInteger(line.position(at: now) - estimate.position(at: now))
        following = Following(
            source: leader.source, shift: shift, beatOrigin: link.state.timeline.beatOrigin, playingSince: nil,
            song: song, starts: song.starts &- (transport.isPlaying ? 0 : 1), updatedAt: now)
        if transport.isPlaying { following?.playingSince = link.state.timeForIsPlaying }
        lastLeader = leader.source
        let former = line
        moveGrid(to: leader, estimate, shift: shift, at: now)
        applySong(leader, after: former, at: now)
    }

    private mutating func update(_ leader: TrackedSource, at now: HostTime) {
        guard var following, let estimate = leader.follower.estimate else { return }
        let apart = line.position(at: now) - estimate.position(at: now) - Double(following.shift)
        let doubt = min(estimate.phaseDoubt, estimate.coarseness) / estimate.microsecondsPerTick
        // Ticks are counted, so a song that plays is where the leader's is, and slews back if it was late to follow a
        // change of tempo. Only when it is certainly elsewhere, it is realigned. Without a song nobody counts.
        if !transport.isPlaying || abs(apart) - doubt > Double(Following.farthestSlew) {
            following.shift += roundedToInteger(apart)
        }
        following.updatedAt = now
        self.following = following
        moveGrid(to: leader, estimate, shift: following.shift, at: now)
        applySong(leader, at: now)
    }

    /// Follows the leader's line: by a step if outputs are too far away and no song plays, else by slewing.
    private mutating func moveGrid(to leader: TrackedSource, _ estimate: ClockEstimate, shift: Int64, at now: HostTime)
    {
        let tolerance = roundedToInteger(estimate.coarseness) + Following.tolerance
        let newLine = leaderLine(leader, estimate, shift: shift, at: now)
        let apart = abs(line.position(at: now) - newLine.position(at: now)) * estimate.microsecondsPerTick
        if transport.isPlaying || apart <= Double(tolerance) {
            map.slew(to: newLine, at: now)
        } else {
            map.step(to: newLine)
        }
        map.tolerance = tolerance
    }

    /// Where our ticks fall according to the leader's clock, numbered from the beginning of its song or as before.
    private func leaderLine(
        _ leader: TrackedSource, _ estimate: ClockEstimate, shift: Int64, at now: HostTime
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
    ///
    /// - Parameters:
    ///   - leader: the leader.
    ///   - former: where ticks fell until now, if this has just begun.
    ///   - now: the present host time.
    private mutating func applySong(_ leader: TrackedSource, after former: TickLine? = nil, at now: HostTime) {
        guard var following else { return }
        let song = leader.follower.song
        following.song = song
        if let top = leader.top {
            following.beatOrigin = .zero
            if song.motion != .stopped {
                let isNew = song.starts != following.starts || !transport.isPlaying
                if isNew || abs(transport.startTick - top - following.shift) > Following.farthestSlew {
                    transport.startTick = top + following.shift
                    if isNew, !transport.isPlaying, leader.controlsTransport {
                        makeTimeToStart(song, &following, after: former, at: now)
                    }
                    following.playingSince = line.time(ofTick: transport.startTick)
                } else {
                    // The leader's ticks were counted anew; its song is where it was.
                    following.shift = transport.startTick - top
                }
                following.starts = song.starts
            }
        }
        if leader.controlsTransport { transport.isPlaying = song.motion != .stopped }
        if !transport.isPlaying { following.playingSince = nil }
        self.following = following
    }

    /// Longest time that a song is delayed so that machines can start with it, in microseconds.
    package static let longestReach: Int64 = 50_000

    /// Moves the grid later if a song would begin before machines can be started with it.
    ///
    /// A leader's Start may come with its tick, or after that tick was due; without this, machines would enter at the
    /// next sixteenth or bar. They slew back to the leader.
    private mutating func makeTimeToStart(
        _ song: FollowedSong, _ following: inout Following, after former: TickLine?, at now: HostTime
    ) {
        guard let leaderReach else { return }
        let first = transport.startTick + song.resumePosition
        var earliest = now.advanced(byMicroseconds: leaderReach - SessionEdit.propagationTime + Following.margin)
        if let former {
            // Until then outputs send ticks of the former grid, and they keep four fifths of a tick between two.
            let last = former.time(ofTick: former.firstTick(atOrAfter: earliest) - 1)
            earliest = max(earliest, last.advanced(byMicroseconds: former.tickLength * 4 / 5))
        }
        let due = line.time(ofTick: first)
        let late = due.microseconds(to: earliest)
        guard late > 0, late < line.microsecondsPerBeat / 2 else { return }
        var later = line
        if due < now.advanced(byMicroseconds: SessionEdit.propagationTime) {
            // Outputs may have sent that tick already, as one of no song. So the song begins with another one.
            later.tickOrigin += 1
            transport.startTick += 1
            following.shift += 1
        }
        later.timeOrigin = later.timeOrigin.advanced(byMicroseconds: late)
        map.step(to: later)
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
        if isPlaying, !transport.isPlaying, let leader = tracked[following.source], let top = leader.playingTop {
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
    package mutating func giveTransportBack() { tracked.giveTransportBack() }

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
        map.tolerance = nil
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

extension TrackedSource {
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
