import BeatTime

// Measuring another session's clock, and answering with ours.
extension Engine {
    /// Most measurements at once; a further one puts off one of them.
    private static let measurementLimit = 128
    /// With so many at once, a measurement ends as soon as one pong shows that the session is younger than ours.
    private static let crowdedCount = 32
    /// Measurements that every address may have; one with more is the first to have one put off.
    private static let leastShare = 4

    mutating func receivedMeasurement(
        _ datagram: [UInt8], from source: Endpoint, on interface: IPAddress, at now: HostTime
    ) throws(WireError) {
        switch try MeasurementMessage(datagram) {
        case .ping(let payload):
            let pong = MeasurementMessage.pong(
                session: session.id, ghostTime: session.transform.ghostTime(of: now), echoing: payload)
            let stamp = Datagram.LateStamp(
                offset: MeasurementMessage.ghostTimeOffset, intercept: session.transform.intercept)
            sendMeasurement(pong, stamp, to: source, on: interface)
        case .pong(let pong):
            receivedPong(pong, from: source, on: interface, at: now)
        }
    }

    /// The measurement that a pong belongs to: by endpoint, or else by session if another endpoint answered.
    private func measurement(
        answeredBy pong: MeasurementMessage.Pong, from source: Endpoint, on interface: IPAddress, at now: HostTime
    ) -> Int? {
        let candidates = measurements.indices.filter {
            measurements[$0].peer.interface == interface && measurements[$0].expects(pong, from: source, at: now)
        }
        let asked = candidates.filter { measurements[$0].target == source }
        let aboutSession = (asked + candidates).first { measurements[$0].session == pong.session }
        return aboutSession ?? asked.first
    }

    private mutating func receivedPong(
        _ pong: MeasurementMessage.Pong, from source: Endpoint, on interface: IPAddress, at now: HostTime
    ) {
        guard let index = measurement(answeredBy: pong, from: source, on: interface, at: now) else { return }
        guard measurements[index].session == pong.session else {
            failed(measurements.remove(at: index), at: now)
            return
        }
        // A pong from another endpoint may have been sent by anyone.
        let isOwnAnswer = measurements[index].target == source
        if isOwnAnswer, measurements.count >= Self.crowdedCount, rulesOut(pong, measurements[index], at: now) {
            let ended = measurements.remove(at: index)
            peers.noteAnswer(ended.peer)
            return
        }
        ping(source, on: interface, previousGhostTime: pong.ghostTime, at: now)
        switch measurements[index].received(pong, from: source, at: now) {
        case .goOn: break
        case .failed: failed(measurements.remove(at: index), at: now)
        case .succeeded(let trips): succeeded(measurements.remove(at: index), trips, at: now)
        }
    }

    /// Whether a pong alone shows that the session must not be joined.
    private mutating func rulesOut(
        _ pong: MeasurementMessage.Pong, _ measurement: Measurement, at now: HostTime
    ) -> Bool {
        guard measurement.session != session.id, pong.ghostTime.microseconds != 0, pong.hostTime.microseconds != 0
        else { return false }
        let trip = RoundTrip(sent: pong.hostTime, ghostTime: pong.ghostTime, arrived: now)
        return isRuledOut(measurement.session, by: trip, at: now)
    }

    private mutating func succeeded(_ measurement: Measurement, _ trips: [RoundTrip], at now: HostTime) {
        let isOwn = measurement.session == session.id
        let isFirstHand = measurement.peer.node == measurement.session
        let known = isOwn ? clock : nil
        let leads = trips.map(\.lead).sorted()
        guard !leads.isEmpty,
            let burst = Burst(
                trips, beyond: known?.base ?? leads[leads.count / 2], drift: known?.drift ?? 0,
                isFirstHand: isFirstHand)
        else { return failed(measurement, at: now) }
        let times = trips.map { $0.sent.microseconds(to: $0.arrived) }.sorted()
        peers.noteAnswer(measurement.peer, roundTrip: times[times.count / 2])
        unanswered.answered(measurement.session)
        if isOwn {
            measuredThrough = measurement.peer
            measuredAgain(burst, at: now)
        } else {
            measured(measurement.session, burst, through: measurement.peer, at: now)
        }
    }

    /// Starts to measure a session through one of its peers; false if no peer can be asked.
    mutating func startMeasurement(of id: NodeID, _ length: Measurement.Length = .full, at now: HostTime) -> Bool {
        guard let record = peers.measurable(in: id, preferring: measuredThrough, at: now),
            interfaces.contains(where: { $0.address == record.interface })
        else { return false }
        startMeasurement(of: id, through: record, length, at: now)
        return true
    }

    /// Starts to measure a session through a peer, instead of what is being measured through it.
    mutating func startMeasurement(
        of id: NodeID, through record: PeerRecord, _ length: Measurement.Length = .full, at now: HostTime
    ) {
        guard let target = record.announcement.measurementEndpoint else { return }
        if let running = measurements.firstIndex(where: { $0.peer == record.announcer }) {
            let replaced = measurements.remove(at: running)
            if replaced.session != id { failed(replaced, at: now) }
        }
        if measurements.count >= Self.measurementLimit { putOffMeasurement(for: record.source, at: now) }
        peers.noteAsked(record.announcer, at: now)
        let isSecondTry = knownSessions.contains { $0.id == id && $0.wasPutOff }
        measurements.append(
            Measurement(
                of: id, through: record, target: target, length: length, isSecondTry: isSecondTry, at: now))
        ping(target, on: record.interface, at: now)
    }

    /// Ends a measurement to make room for another: its session stays known, and is measured when it is heard again.
    ///
    /// It belongs to the address that has the most of them, if that is more than its share. Of these, one that nobody
    /// has answered goes first, then one of a session that was not put off before, then the oldest.
    private mutating func putOffMeasurement(for source: IPAddress, at now: HostTime) {
        let foreign = measurements.indices.filter { measurements[$0].session != session.id }
        var counts = AddressCounts()
        counts.add(1, to: source)
        for index in foreign { counts.add(1, to: measurements[index].peer.address) }
        let greediest = counts.greediest(above: Self.leastShare)
        // The first of equals is the oldest.
        let index = foreign.min { left, right in
            func rank(_ measurement: Measurement) -> (Int, Int, Int) {
                (
                    measurement.peer.address == greediest ? 0 : 1, measurement.isAnswered ? 1 : 0,
                    measurement.isSecondTry ? 1 : 0
                )
            }
            return rank(measurements[left]) < rank(measurements[right])
        }
        guard let index else { return }
        let putOff = measurements.remove(at: index)
        peers.noteAsked(putOff.peer, at: nil)
        for index in knownSessions.indices where knownSessions[index].id == putOff.session {
            knownSessions[index].wasPutOff = true
        }
        noteCrowd(at: putOff.peer.address == greediest ? greediest : nil, now)
    }

    /// Pings again where no pong came in time, and gives up after too many attempts.
    mutating func retryMeasurements(at now: HostTime) {
        var lost: [Measurement] = []
        for index in measurements.indices.reversed() where measurements[index].retryAt <= now {
            if measurements[index].retry(at: now) == .goOn {
                ping(measurements[index].target, on: measurements[index].peer.interface, at: now)
            } else {
                lost.append(measurements.remove(at: index))
            }
        }
        for measurement in lost { failed(measurement, at: now) }
    }

    /// Ends measurements on an interface that is gone.
    mutating func abandonMeasurements(on interface: IPAddress, at now: HostTime) {
        let abandoned = measurements.filter { $0.peer.interface == interface }
        measurements.removeAll { $0.peer.interface == interface }
        for measurement in abandoned { failed(measurement, at: now) }
    }

    /// Measures a session through another member if it failed through this one.
    ///
    /// If all have failed it forgets the session, so that its members' next message starts again. The present session is
    /// kept; it is measured again later.
    private mutating func failed(_ measurement: Measurement, at now: HostTime) {
        if measurement.peer == measuredThrough { measuredThrough = nil }
        noteSilence(measurement, at: now)
        peers.noteFailure(measurement.peer, at: now)
        let id = measurement.session
        guard id != session.id, !measurements.contains(where: { $0.session == id }),
            !knownSessions.contains(where: { $0.id == id && $0.isRejected })
        else { return }
        if let next = peers.unasked(in: id, at: now), interfaces.contains(where: { $0.address == next.interface }) {
            startMeasurement(of: id, through: next, at: now)
        } else {
            forget(id)
        }
    }

    private mutating func ping(
        _ peer: Endpoint, on interface: IPAddress, previousGhostTime: GhostTime? = nil, at now: HostTime
    ) {
        let ping = MeasurementMessage.ping(hostTime: now, previousGhostTime: previousGhostTime)
        let stamp = Datagram.LateStamp(offset: MeasurementMessage.hostTimeOffset, intercept: 0)
        sendMeasurement(ping, stamp, to: peer, on: interface)
    }

    private mutating func sendMeasurement(
        _ bytes: [UInt8], _ stamp: Datagram.LateStamp, to peer: Endpoint, on interface: IPAddress
    ) {
        outbox.append(
            Datagram(
                interface: interface, channel: .measurement, destination: .peer(peer), bytes: bytes, lateStamp: stamp))
    }
}
