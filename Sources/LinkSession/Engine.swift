package import BeatTime

/// The Link protocol as a value: takes events and the time, and returns the datagrams to send.
///
/// It reads no clock and opens no socket. Random numbers come only from its seed, so the same events give the same
/// datagrams. Times are this machine's host time and must not run backwards. One owner at a time; each call is short.
package struct Engine: Sendable {
    var nodeIDs: NodeIDGenerator
    /// This peer's ID; it gets a new one whenever it founds a session.
    package internal(set) var nodeID: NodeID
    /// Earlier IDs of this peer; on loopback its own messages may still be in transit.
    var formerNodeIDs: [NodeID] = []

    /// The session this peer is in.
    var session: Session
    /// The session's start/stop state.
    var startStop = StartStopState.initial
    /// The stamp of ``startStop``, or when it came if its stamp was ahead of the session's clock.
    var startStopCountsFrom = GhostTime(microseconds: 0)
    /// Who changed tempo and transport, and which sessions were joined.
    package internal(set) var changeLog = ChangeLog()
    /// Other sessions seen, ordered by ID.
    var knownSessions: [KnownSession] = []
    var peers = PeerTable()
    var measurements: [Measurement] = []
    /// Ordered by address.
    var interfaces: [LinkInterface] = []
    /// The clock of the joined session; nil in a session founded here, which uses our own clock.
    var clock: SessionClock?
    /// When to measure the joined session again; nil in a session founded here.
    var remeasureAt: HostTime?
    /// When to do a full measurement.
    var fullRoundAt = HostTime(microseconds: 0)
    /// The peer through which the joined session was last measured, where that succeeded.
    ///
    /// A peer may be heard where it cannot be measured.
    var measuredThrough: Announcer?
    /// Until when we only listen; nil while we announce ourselves.
    ///
    /// Who was alone with us has founded a session when we said good-bye. Ours must not be about as old, or their
    /// beats could be moved to it.
    var listensUntil: HostTime?
    /// When we, or an earlier run of the program, may last have said good-bye.
    private var leftAt: HostTime?
    /// Whether there were peers when we said good-bye, or any was heard since.
    var hasHeardPeers = false
    /// When the clock was last corrected.
    var correctedAt = HostTime(microseconds: 0)

    /// The session's timeline as this machine's programs see it.
    var client: HostTimeline
    var clientStartStop: HostStartStopState
    /// Whether `clientStartStop` is the session's, and so moves with the session's tempo.
    ///
    /// A state from before sync was switched on is not followed.
    var followsStartStop = false
    /// How many sessions this peer has joined.
    var joins: UInt64 = 0

    /// Whether the user wants Link.
    package internal(set) var isEnabled = false
    /// Whether the program has a use for Link now.
    package internal(set) var isActive = true
    /// Whether this peer is on the network: enabled and active.
    package internal(set) var isNetworking = false
    /// Number of calls of ``setEnabled(_:at:)``, whether they changed anything or not.
    package internal(set) var switchings: UInt64 = 0
    /// Number of calls of ``edit(at:_:)``.
    package internal(set) var edits: UInt64 = 0
    /// Whether play and stop are shared; set with ``setStartStopSync(_:)``.
    package internal(set) var isStartStopSyncEnabled = false
    /// Other peers in the same session.
    package internal(set) var peerCount = 0
    /// Whether the last of them fell silent or was lost with a network, and none has come since.
    package internal(set) var hasLostPeers = false
    /// When their number last changed; nil if it never did.
    var membersChangedAt: HostTime?
    /// Datagrams that were no valid Link messages, or exceeded the limits.
    ///
    /// Unexpected pongs do not count: every measurement leaves one behind.
    package internal(set) var refusedDatagrams = 0
    /// Greatest possible error of the joined session's clock as measured, in microseconds; nil in a session founded here.
    ///
    /// It does not include what the measured peer itself errs by, if it is not the founder.
    /// It grows while nothing is measured.
    package func measurementErrorMicroseconds(at now: HostTime) -> Double? { clock?.errorMicroseconds(at: now) }
    /// Sum of all corrections of joined sessions' clocks, in microseconds; positive is later.
    package internal(set) var clockSteps: Int64 = 0

    /// Until when playing is taken over from the first joined session; nil as usual in Link, where joining starts
    /// nothing.
    var resumesUntil: HostTime?

    /// Peers or sessions that are too many for the tables; nil while there is room for all.
    package internal(set) var crowd: Crowd?

    /// Peers that are heard but cannot be measured, or cannot measure us; nil if there are none.
    package internal(set) var unreachable: Unreachable?
    var unanswered = UnansweredSessions()

    /// Who announces numbers in our session that no program comes to by itself, and until when to remember it.
    package internal(set) var extreme: (source: IPAddress, until: HostTime)?

    /// More peers or sessions than are remembered or measured.
    package struct Crowd: Hashable, Sendable {
        /// The address that announced the most when something was first displaced; nil while no address stands out.
        package var source: IPAddress?
        /// When to forget about it, unless something more is displaced.
        package var until: HostTime
    }

    /// To be sent at the end of the present event.
    var outbox: [Datagram] = []
    /// Whether the present event changed what all peers should know.
    var isStateNew = false

    /// A session's ID, timeline and clock.
    struct Session: Sendable {
        var id: NodeID
        var timeline: GhostTimeline
        var transform: GhostTransform
    }

    /// A session this peer is not in.
    struct KnownSession: Sendable {
        let id: NodeID
        var timeline: GhostTimeline
        /// When it was first heard.
        let since: HostTime
        /// Whether a measurement has shown that it must not be joined.
        var isRejected = false
        /// Whether its measurement was put off for others.
        var wasPutOff = false
    }

    /// Founds a session of one; the engine is disabled.
    ///
    /// - Parameters:
    ///   - tempo: clamped to Link's range.
    ///   - seed: decides all node IDs; should differ between peers.
    ///   - now: the time of beat 0.
    package init(tempo: Tempo, seed: UInt64, at now: HostTime) {
        nodeIDs = NodeIDGenerator(seed: seed)
        nodeID = nodeIDs.next()
        let timeline = GhostTimeline(
            tempo: tempo.clamped, beatOrigin: .zero, timeOrigin: GhostTime(microseconds: 0))
        session = Session(id: nodeID, timeline: timeline, transform: GhostTransform(foundingAt: now))
        client = HostTimeline(tempo: tempo.clamped, beatOrigin: .zero, timeOrigin: now)
        clientStartStop = HostStartStopState(isPlaying: false, time: now, timestamp: now)
    }

    /// The ID of the session this peer is in.
    package var sessionID: NodeID { session.id }

    /// The local addresses in use.
    package var interfaceAddresses: [IPAddress] { interfaces.map(\.address) }

    /// Sets the user's switch.
    ///
    /// Joining the network first founds a new session. The peer is then younger than any session there, and yields to
    /// it. The caller must report the interfaces next. Leaving says bye-bye on every interface and forgets them.
    package mutating func setEnabled(_ isEnabled: Bool, at now: HostTime) -> [Datagram] {
        switchings &+= 1
        self.isEnabled = isEnabled
        return joinOrLeaveNetwork(at: now)
    }

    /// Takes part in the network only while the program has a use for it; the user's switch is unchanged.
    package mutating func setActive(_ isActive: Bool, at now: HostTime) -> [Datagram] {
        self.isActive = isActive
        return joinOrLeaveNetwork(at: now)
    }

    /// Notes that an earlier run of the program may have said good-bye right before now, as in a quick restart.
    ///
    /// If the peer is enabled soon after, it first only listens for 0.6 s.
    package mutating func mayJustHaveLeft(at now: HostTime) { leftAt = now }

    private mutating func joinOrLeaveNetwork(at now: HostTime) -> [Datagram] {
        guard isNetworking != (isEnabled && isActive) else { return [] }
        isNetworking.toggle()
        if isNetworking {
            if let leftAt, leftAt.microseconds(to: now) < Self.ageTolerance + Self.travelTime {
                // Until 0.6 s after there is a socket to listen with.
                listensUntil = HostTime(microseconds: .max)
            }
            foundSession(at: now)
        } else {
            (leftAt, hasHeardPeers) = (now, !peers.records.isEmpty)
            (listensUntil, extreme) = (nil, nil)
            for interface in interfaces { sayByeBye(on: interface) }
            interfaces.removeAll()
            measurements.removeAll()
            peers.removeAll()
            unreachable = nil
            recountPeers(at: now)
            hasLostPeers = false
        }
        return takeOutbox(at: now)
    }

    /// Starts or stops sharing play and stop.
    ///
    /// Nothing changes by itself: what the session played or stopped before is not followed later either.
    package mutating func setStartStopSync(_ isEnabled: Bool) {
        guard isEnabled != isStartStopSyncEnabled else { return }
        isStartStopSyncEnabled = isEnabled
        followsStartStop = false
    }

    /// Reports that a local address can be used, or has new sockets.
    ///
    /// - Parameters:
    ///   - address: identifies the interface from now on.
    ///   - measurementEndpoint: where that interface's measurement socket listens.
    ///   - now: the present time.
    /// - Returns: the first announcement.
    package mutating func interfaceAppeared(
        _ address: IPAddress, measurementEndpoint: Endpoint, at now: HostTime
    ) -> [Datagram] {
        guard isNetworking else { return [] }
        if let index = interfaces.firstIndex(where: { $0.address == address }) {
            interfaces[index].measurementEndpoint = measurementEndpoint
            broadcast(onInterfaceAt: index, at: now)
        } else {
            if listensUntil != nil, interfaces.isEmpty {
                listensUntil = now.advanced(byMicroseconds: Self.listeningTime)
            }
            let index = interfaces.firstIndex { address < $0.address } ?? interfaces.endIndex
            interfaces.insert(LinkInterface(address: address, measurementEndpoint: measurementEndpoint), at: index)
            broadcast(onInterfaceAt: index, at: now)
        }
        return takeOutbox(at: now)
    }

    /// Reports that a local address is gone; peers known only through it are forgotten.
    package mutating func interfaceVanished(_ address: IPAddress, at now: HostTime) -> [Datagram] {
        guard let index = interfaces.firstIndex(where: { $0.address == address }) else { return [] }
        sayByeBye(on: interfaces.remove(at: index))
        peers.removeAll(on: address)
        abandonMeasurements(on: address, at: now)
        recountPeers(isLoss: true, at: now)
        return takeOutbox(at: now)
    }

    /// Reports that the machine was suspended, and its clock with it: earlier measurements are worthless.
    ///
    /// All peers are forgotten, as if they had left. Those still present are heard within a quarter of a second. Their
    /// session is older than the one founded here, so it is joined again.
    package mutating func resumed(at now: HostTime) -> [Datagram] {
        peers.removeAll()
        knownSessions.removeAll()
        measurements.removeAll()
        recountPeers(at: now)
        return takeOutbox(at: now)
    }

    /// Processes a datagram.
    ///
    /// - Parameters:
    ///   - datagram: only its first 512 bytes count.
    ///   - source: its sender, and the receiver of an answer.
    ///   - interface: the local address of the interface whose socket received it.
    ///   - channel: which socket that was.
    ///   - now: read just after the datagram; the answer to a ping carries it.
    /// - Returns: what to send, in order.
    package mutating func received(
        _ datagram: [UInt8], from source: Endpoint, on interface: IPAddress, channel: Channel, at now: HostTime
    ) -> [Datagram] {
        guard isNetworking, let index = interfaces.firstIndex(where: { $0.address == interface }) else { return [] }
        do throws(WireError) {
            switch channel {
            case .discovery: try receivedDiscovery(datagram, from: source, onInterfaceAt: index, at: now)
            case .measurement: try receivedMeasurement(datagram, from: source, on: interface, at: now)
            }
        } catch {
            refusedDatagrams += 1
        }
        return takeOutbox(at: now)
    }

    /// Does what is due; call it at ``nextDeadline``, earlier calls are harmless.
    package mutating func timePassed(to now: HostTime) -> [Datagram] {
        prunePeers(at: now)
        retryMeasurements(at: now)
        remeasureSession(at: now)
        correctClock(at: now)
        endListening(at: now)
        forgetCrowd(at: now)
        if interfaces.contains(where: { $0.broadcastAt <= now }) { judgeReach(at: now) }
        changeLog.settle(at: now)
        for index in interfaces.indices where isStateNew || interfaces[index].broadcastAt <= now {
            broadcast(onInterfaceAt: index, at: now)
        }
        isStateNew = false
        return takeOutbox(at: now)
    }

    /// When ``timePassed(to:)`` has something to do; nil while there is nothing to wait for.
    package var nextDeadline: HostTime? {
        var earliest = remeasureAt
        func consider(_ time: HostTime?) {
            // The greatest time stands for never.
            if let time, time.microseconds < .max { earliest = min(earliest ?? time, time) }
        }
        for interface in interfaces {
            consider(interface.broadcastAt)
            consider(interface.pruneAt)
        }
        for measurement in measurements { consider(measurement.retryAt) }
        consider(listensUntil)
        if clock != nil { consider(nextCorrection) }
        consider(crowd?.until)
        consider(extreme?.until)
        consider(changeLog.nextDeadline)
        return earliest
    }
}
