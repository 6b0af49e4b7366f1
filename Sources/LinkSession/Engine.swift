package import BeatTime

/// The Link protocol as a value: it takes events and the time, and returns the datagrams to send.
///
/// It reads no clock, opens no socket and draws no random number but from its seed, so the same events give the same
/// datagrams. Times are this machine's host time and must not run backwards. One owner at a time; each call is short.
package struct Engine: Sendable {
    var nodeIDs: NodeIDGenerator
    /// This peer's name; a new one is drawn whenever it founds a session.
    package internal(set) var nodeID: NodeID
    /// Names this peer had: on loopback its own messages may still be under way.
    var formerNodeIDs: [NodeID] = []

    /// The session this peer is in.
    var session: Session
    /// What the session shares of play and stop.
    var startStop = StartStopState.initial
    /// Other sessions seen, in the order of their IDs.
    var knownSessions: [KnownSession] = []
    var peers = PeerTable()
    var measurements: [Measurement] = []
    /// In the order of their addresses.
    var interfaces: [LinkInterface] = []
    /// The clock of the session joined; nil in a session founded here, which runs on our own.
    var clock: SessionClock?
    /// When to measure the session joined once more; nil in a session founded here.
    var remeasureAt: HostTime?
    /// When to do so at full length.
    var fullRoundAt = HostTime(microseconds: 0)
    /// Where a measurement succeeded last: a peer may be heard where it cannot be asked.
    var measuredOn: IPAddress?
    /// When the clock was last corrected.
    var correctedAt = HostTime(microseconds: 0)

    /// The session's timeline as this machine's programs see it.
    var client: HostTimeline
    var clientStartStop: HostStartStopState
    /// Whether `clientStartStop` is the session's, so that it moves with the session's tempo.
    ///
    /// A state that the session had before sync was switched on is not followed.
    var followsStartStop = false
    /// How many sessions this peer has joined.
    var joins: UInt64 = 0

    /// Whether the user wants Link.
    package internal(set) var isEnabled = false
    /// Whether the program that this engine serves has a use for Link just now.
    package internal(set) var isActive = true
    /// Whether this peer takes part on the network; it does when it is enabled and active.
    package internal(set) var isNetworking = false
    /// How often ``setEnabled(_:at:)`` was called, whether it changed anything or not.
    package internal(set) var switchings: UInt64 = 0
    /// How often ``edit(at:_:)`` has been carried out.
    package internal(set) var edits: UInt64 = 0
    /// Whether play and stop are shared; set it by ``setStartStopSync(_:)``.
    package internal(set) var isStartStopSyncEnabled = false
    /// Other peers in the same session.
    package internal(set) var peerCount = 0
    /// Datagrams that were no sound Link messages, or told of more than is remembered.
    ///
    /// Pongs that nobody waits for do not count: every measurement leaves one behind.
    package internal(set) var refusedDatagrams = 0
    /// How far the clock of the session joined may well be from the truth; nil in a session founded here.
    package var measurementErrorMicroseconds: Double? { clock?.errorMicroseconds }
    /// By how much measurements have corrected the clocks of joined sessions in all, in microseconds; positive is later.
    package internal(set) var clockSteps: Int64 = 0

    /// Until when the first session that is joined and plays is played along; nil as Link has it: joining starts nothing.
    var resumesUntil: HostTime?

    /// Who announces more than is remembered; nil while everything has room.
    package internal(set) var crowd: Crowd?

    /// More peers or sessions than are remembered or measured.
    package struct Crowd: Hashable, Sendable {
        /// The address that first had to give way: it announced the most.
        package var source: IPAddress
        /// When to forget about it, unless something more has to give way.
        package var until: HostTime
    }

    /// To be sent when the present event is dealt with.
    var outbox: [Datagram] = []
    /// Whether the present event has changed what everyone should hear.
    var isStateNew = false

    /// A session's name, its timeline, and its clock.
    struct Session: Sendable {
        var id: NodeID
        var timeline: GhostTimeline
        var transform: GhostTransform
    }

    /// A session this peer is not in.
    struct KnownSession: Sendable {
        let id: NodeID
        var timeline: GhostTimeline
        /// Nil while it was not measured.
        var transform: GhostTransform?
        /// Whether its measurement was put off for others.
        var wasPutOff = false
    }

    /// Founds a session of one; the engine is disabled.
    ///
    /// - Parameters:
    ///   - tempo: is brought into the range that Link allows.
    ///   - seed: decides all node IDs; it should differ between peers.
    ///   - now: becomes beat 0.
    package init(tempo: Tempo, seed: UInt64, at now: HostTime) {
        nodeIDs = NodeIDGenerator(seed: seed)
        nodeID = nodeIDs.next()
        let timeline = GhostTimeline(
            tempo: tempo.clamped, beatOrigin: .zero, timeOrigin: GhostTime(microseconds: 0))
        session = Session(id: nodeID, timeline: timeline, transform: GhostTransform(foundingAt: now))
        client = HostTimeline(tempo: tempo.clamped, beatOrigin: .zero, timeOrigin: now)
        clientStartStop = HostStartStopState(isPlaying: false, time: now, timestamp: now)
    }

    /// The name of the session this peer is in.
    package var sessionID: NodeID { session.id }

    /// The local addresses in use.
    package var interfaceAddresses: [IPAddress] { interfaces.map(\.address) }

    /// Turns the user's switch.
    ///
    /// Joining the network founds a new session first, so that whoever joins is younger than any session there and
    /// yields to it. Then the interfaces have to be reported. Leaving says bye-bye on every interface and forgets them.
    package mutating func setEnabled(_ isEnabled: Bool, at now: HostTime) -> [Datagram] {
        switchings &+= 1
        self.isEnabled = isEnabled
        return joinOrLeaveNetwork(at: now)
    }

    /// Takes part on the network only while there is a use for it; the user's switch stays as it is.
    package mutating func setActive(_ isActive: Bool, at now: HostTime) -> [Datagram] {
        self.isActive = isActive
        return joinOrLeaveNetwork(at: now)
    }

    private mutating func joinOrLeaveNetwork(at now: HostTime) -> [Datagram] {
        guard isNetworking != (isEnabled && isActive) else { return [] }
        isNetworking.toggle()
        if isNetworking {
            foundSession(at: now)
        } else {
            for interface in interfaces { sayByeBye(on: interface) }
            interfaces.removeAll()
            measurements.removeAll()
            peers.removeAll()
            recountPeers(at: now)
        }
        return takeOutbox(at: now)
    }

    /// Begins or ceases to share play and stop.
    ///
    /// It changes nothing by itself: what the session played or stopped before is not followed later either.
    package mutating func setStartStopSync(_ isEnabled: Bool) {
        guard isEnabled != isStartStopSyncEnabled else { return }
        isStartStopSyncEnabled = isEnabled
        followsStartStop = false
    }

    /// A local address can be used, or has got new sockets.
    ///
    /// - Parameters:
    ///   - address: the address; it names the interface from now on.
    ///   - measurementEndpoint: where that interface's measurement socket listens.
    ///   - now: the time.
    /// - Returns: the first announcement.
    package mutating func interfaceAppeared(
        _ address: IPAddress, measurementEndpoint: Endpoint, at now: HostTime
    ) -> [Datagram] {
        guard isNetworking else { return [] }
        if let index = interfaces.firstIndex(where: { $0.address == address }) {
            interfaces[index].measurementEndpoint = measurementEndpoint
            broadcast(onInterfaceAt: index, at: now)
        } else {
            let index = interfaces.firstIndex { address < $0.address } ?? interfaces.endIndex
            interfaces.insert(LinkInterface(address: address, measurementEndpoint: measurementEndpoint), at: index)
            broadcast(onInterfaceAt: index, at: now)
        }
        return takeOutbox(at: now)
    }

    /// A local address is gone: the peers known only through it are forgotten.
    package mutating func interfaceVanished(_ address: IPAddress, at now: HostTime) -> [Datagram] {
        guard let index = interfaces.firstIndex(where: { $0.address == address }) else { return [] }
        sayByeBye(on: interfaces.remove(at: index))
        peers.removeAll(on: address)
        abandonMeasurements(on: address, at: now)
        recountPeers(at: now)
        return takeOutbox(at: now)
    }

    /// This machine has slept, and its clock with it: what was measured before is worth nothing.
    ///
    /// All peers are forgotten, as if they had left. Whoever is still there will be heard within a quarter of a
    /// second, and whatever session they are in is then older than the one founded here, so it is joined afresh.
    package mutating func resumed(at now: HostTime) -> [Datagram] {
        peers.removeAll()
        knownSessions.removeAll()
        measurements.removeAll()
        recountPeers(at: now)
        return takeOutbox(at: now)
    }

    /// A datagram came.
    ///
    /// - Parameters:
    ///   - datagram: at most its first 512 bytes count.
    ///   - source: who sent it, and to whom an answer goes.
    ///   - interface: the local address of the interface whose socket received it.
    ///   - channel: which socket that was.
    ///   - now: read just after the datagram was; an answer to a ping carries it.
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

    /// Does what has become due; to be called at ``nextDeadline``, and harmless earlier.
    package mutating func timePassed(to now: HostTime) -> [Datagram] {
        prunePeers(at: now)
        retryMeasurements(at: now)
        remeasureSession(at: now)
        correctClock(at: now)
        forgetCrowd(at: now)
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
            if let time { earliest = min(earliest ?? time, time) }
        }
        for interface in interfaces {
            consider(interface.broadcastAt)
            consider(interface.pruneAt)
        }
        for measurement in measurements { consider(measurement.retryAt) }
        consider(crowd?.until)
        return earliest
    }
}
