import BeatTime
import LinkSession
import Simulation

/// One engine on one interface, with hand-made peers around it.
struct Rig {
    private(set) var engine: Engine
    private(set) var now = HostTime(microseconds: 1_000_000_000)
    /// Every sent datagram with its time.
    private(set) var sent: [(time: HostTime, datagram: Datagram)] = []
    /// The edits that were refused.
    private(set) var refusals: [EditRefusal] = []
    /// Clocks that answer pings, by endpoint.
    var responders: [Endpoint: Responder] = [:]
    private var pending: [(time: HostTime, from: Endpoint, interface: IPAddress, bytes: [UInt8])] = []

    /// A session's clock at an endpoint.
    struct Responder {
        var session: NodeID
        var intercept: Int64
        /// Number of answered pings; later ones are lost.
        var answers = Int.max
        /// How long it takes to answer, in microseconds.
        var slowness: Int64 = 0
        /// Whether it tells the time.
        var tellsTime = true
    }

    static let address = IPAddress.v4(10, 0, 0, 1)
    static let measurementEndpoint = Endpoint(address: address, port: 5000)
    /// One-way delay in microseconds.
    static let delay: Int64 = 100
    /// The delay of this rig's network; a radio network's is much longer.
    var delay = Rig.delay

    init(tempo: Double = 120, seed: UInt64 = 1, isEnabled: Bool = true) {
        engine = Engine(tempo: Tempo(beatsPerMinute: tempo), seed: seed, at: now)
        if isEnabled { enable() }
    }

    mutating func enable() {
        perform(engine.setEnabled(true, at: now))
        let endpoint = Self.measurementEndpoint
        perform(engine.interfaceAppeared(Self.address, measurementEndpoint: endpoint, at: now))
    }

    /// Notes that the program has just started.
    mutating func noteStart() { engine.mayJustHaveLeft(at: now) }

    mutating func disable() { perform(engine.setEnabled(false, at: now)) }

    mutating func setStartStopSync(_ isEnabled: Bool) { engine.setStartStopSync(isEnabled) }

    mutating func resumePlaying(withinMilliseconds time: Double) {
        engine.resumePlaying(until: now.advanced(byMicroseconds: Int64(time * 1000)))
    }

    mutating func addInterface(_ address: IPAddress) {
        let endpoint = Endpoint(address: address, port: 5000)
        perform(engine.interfaceAppeared(address, measurementEndpoint: endpoint, at: now))
    }

    mutating func removeInterface(_ address: IPAddress) { perform(engine.interfaceVanished(address, at: now)) }

    /// Makes an edit; what is refused is in ``refusals``.
    mutating func edit(_ body: (inout SessionState) -> Void) {
        do throws(EditRefusal) {
            perform(try engine.edit(at: now, body))
        } catch {
            refusals.append(error)
        }
    }

    mutating func commit(_ state: SessionState) {
        do throws(EditRefusal) {
            perform(try engine.commit(state, at: now))
        } catch {
            refusals.append(error)
        }
    }

    /// Advances time, handling every deadline and pong in order.
    mutating func advance(milliseconds: Double) {
        let end = now.advanced(byMicroseconds: Int64(milliseconds * 1000))
        while true {
            let pong = pending.indices.min { pending[$0].time < pending[$1].time }
            let pongTime = pong.map { pending[$0].time }
            guard let next = [pongTime, engine.nextDeadline].compactMap({ $0 }).min(), next <= end else { break }
            now = max(now, next)
            if let pong, pongTime == next {
                let arrival = pending.remove(at: pong)
                hear(arrival.bytes, from: arrival.from, on: arrival.interface, channel: .measurement)
            } else {
                perform(engine.timePassed(to: now))
            }
        }
        now = end
    }

    mutating func hear(
        _ bytes: [UInt8], from source: Endpoint, on interface: IPAddress = Rig.address,
        channel: Channel = .discovery
    ) {
        perform(engine.received(bytes, from: source, on: interface, channel: channel, at: now))
    }

    /// Lets a peer announce itself.
    mutating func hear(
        _ peer: Peer, _ kind: DiscoveryHeader.Kind = .response, timeToLive: UInt8 = 5,
        on interface: IPAddress = Rig.address
    ) {
        let header = DiscoveryHeader(kind: kind, timeToLive: timeToLive, sender: peer.node)
        let bytes = header.encoded(with: kind == .byeBye ? nil : peer.announcement)
        hear(bytes, from: peer.source, on: interface)
    }

    private mutating func perform(_ datagrams: [Datagram]) {
        for datagram in datagrams {
            sent.append((now, datagram))
            if case .peer(let target) = datagram.destination, datagram.channel == .measurement {
                answer(datagram, to: target)
            }
        }
    }

    private mutating func answer(_ ping: Datagram, to target: Endpoint) {
        guard let responder = responders[target], responder.answers > 0,
            case .ping(let payload)? = try? MeasurementMessage(ping.bytes)
        else { return }
        responders[target]?.answers -= 1
        let time = responder.tellsTime ? now.microseconds &+ delay &+ responder.intercept : 0
        let ghost = GhostTime(microseconds: time)
        let pong = MeasurementMessage.pong(session: responder.session, ghostTime: ghost, echoing: payload)
        pending.append((now.advanced(byMicroseconds: 2 * delay + responder.slowness), target, ping.interface, pong))
    }

    mutating func forgetWhatWasSent() { sent = [] }

    /// What other peers would now hear of the session.
    var announcement: Announcement? { engine.announcement(at: now) }

    /// The announcements sent to everyone, with their times.
    var alives: [(time: HostTime, announcement: Announcement)] {
        sent.compactMap { time, datagram in
            guard datagram.destination == .group, let message = try? DiscoveryDecoder(datagram.bytes),
                message.header.kind == .alive, let announcement = try? message.announcement()
            else { return nil }
            return (time, announcement)
        }
    }

    /// Times and sizes of the pings sent to an endpoint.
    func pings(to target: Endpoint) -> [(time: HostTime, size: Int)] {
        sent.filter { $0.datagram.channel == .measurement && $0.datagram.destination == .peer(target) }
            .map { ($0.time, $0.datagram.bytes.count) }
    }
}

/// A hand-made peer: its announcement and its address.
struct Peer {
    var node: NodeID
    var announcement: Announcement
    var source: Endpoint

    /// The founder of a session, unless another session is given.
    init(
        _ name: UInt64, session: NodeID? = nil, tempo: Double = 100, beatOrigin: Double = 40, timeOrigin: Int64 = 0
    ) {
        node = NodeID(bits: name)
        let timeline = GhostTimeline(
            tempo: Tempo(beatsPerMinute: tempo), beatOrigin: Beats(beatOrigin),
            timeOrigin: GhostTime(microseconds: timeOrigin))
        let address = IPAddress.v4(10, 0, 0, UInt8(truncatingIfNeeded: 100 + name % 100))
        announcement = Announcement(
            session: session ?? node, timeline: timeline, startStop: .initial,
            measurementEndpoint: Endpoint(address: address, port: 6000))
        source = Endpoint(address: address, port: 7000)
    }

    var measurementEndpoint: Endpoint { announcement.measurementEndpoint ?? source }
}

extension Rig {
    /// Makes the engine join the session of a peer a minute older than the rig, and waits until it is stable.
    mutating func join(_ peer: Peer) {
        let responder = Responder(session: peer.announcement.session, intercept: 60_000_000 - 1_000_000_000)
        responders[peer.measurementEndpoint] = responder
        hear(peer)
        advance(milliseconds: 100)
    }
}
