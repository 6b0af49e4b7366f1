package import BeatTime

/// What a peer announces about itself four times a second.
///
/// Any number is taken as it is, because other peers take and repeat it as well. Refusing it would leave us alone.
package struct Announcement: Hashable, Sendable {
    package var session: NodeID
    /// The session's timeline; its tempo is within Link's range.
    package var timeline: GhostTimeline
    package var startStop: StartStopState
    /// Where its clock can be measured; nil if it does not say.
    package var measurementEndpoint: Endpoint?

    package init(
        session: NodeID, timeline: GhostTimeline, startStop: StartStopState, measurementEndpoint: Endpoint?
    ) {
        self.session = session
        self.timeline = timeline
        self.startStop = startStop
        self.measurementEndpoint = measurementEndpoint
    }
}

/// The fixed part of a discovery message.
package struct DiscoveryHeader: Hashable, Sendable {
    package var kind: Kind
    /// Seconds for which the sender counts as present without another message.
    package var timeToLive: UInt8
    package var sender: NodeID

    package enum Kind: UInt8, Sendable {
        /// To everyone; asks for a response.
        case alive = 1
        /// To the sender of an `alive`.
        case response = 2
        case byeBye = 3
    }

    package init(kind: Kind, timeToLive: UInt8, sender: NodeID) {
        self.kind = kind
        self.timeToLive = timeToLive
        self.sender = sender
    }
}

/// Reads a discovery message in two steps, because an `alive` is answered before its payload is read.
package struct DiscoveryDecoder {
    package let header: DiscoveryHeader
    private var reader: WireReader

    package init(_ datagram: [UInt8]) throws(WireError) {
        reader = WireReader(datagram.prefix(Wire.receiveLimit))
        guard try reader.integer(UInt64.self) == Wire.discoveryMarker else { throw .foreignMarker }
        let type = try reader.integer(UInt8.self)
        let timeToLive = try reader.integer(UInt8.self)
        let group = try reader.integer(UInt16.self)
        let sender = NodeID(bits: try reader.integer())
        guard group == 0 else { throw .foreignGroup }
        guard let kind = DiscoveryHeader.Kind(rawValue: type) else { throw .unknownType }
        header = DiscoveryHeader(kind: kind, timeToLive: timeToLive, sender: sender)
    }

    /// The payload: entries in any order; unknown ones are skipped, and of repeated ones the last counts.
    package func announcement() throws(WireError) -> Announcement {
        var reader = reader
        var timeline: GhostTimeline?
        var session: NodeID?
        var startStop = StartStopState.initial
        var endpoint: Endpoint?
        while !reader.isAtEnd {
            let entry = try reader.entry()
            switch entry.key {
            case EntryKey.timeline: timeline = try Self.timeline(body(entry.body, ofSize: 24))
            case EntryKey.session: session = try Self.session(body(entry.body, ofSize: 8))
            case EntryKey.startStop: startStop = try Self.startStop(body(entry.body, ofSize: 17))
            case EntryKey.measurementEndpoint4: endpoint = try Self.endpoint4(body(entry.body, ofSize: 6))
            case EntryKey.measurementEndpoint6: endpoint = try Self.endpoint6(body(entry.body, ofSize: 18))
            default: break
            }
        }
        guard let timeline, let session else { throw .missingEntry }
        return Announcement(
            session: session, timeline: timeline, startStop: startStop, measurementEndpoint: endpoint)
    }

    private static func timeline(_ body: WireReader) throws(WireError) -> GhostTimeline {
        var body = body
        return GhostTimeline(
            tempo: Tempo(microsecondsPerBeat: try body.integer()).clamped,
            beatOrigin: Beats(microbeats: try body.integer()), timeOrigin: GhostTime(microseconds: try body.integer()))
    }

    private static func session(_ body: WireReader) throws(WireError) -> NodeID {
        var body = body
        return NodeID(bits: try body.integer())
    }

    private static func startStop(_ body: WireReader) throws(WireError) -> StartStopState {
        var body = body
        return StartStopState(
            isPlaying: try body.integer(UInt8.self) != 0, beats: Beats(microbeats: try body.integer()),
            timestamp: GhostTime(microseconds: try body.integer()))
    }

    private static func endpoint4(_ body: WireReader) throws(WireError) -> Endpoint {
        var body = body
        return Endpoint(address: .v4(try body.integer()), port: try body.integer())
    }

    private static func endpoint6(_ body: WireReader) throws(WireError) -> Endpoint {
        var body = body
        return Endpoint(address: .v6(high: try body.integer(), low: try body.integer()), port: try body.integer())
    }
}

extension DiscoveryHeader {
    /// The bytes of a message; only `byeBye` goes without an announcement.
    package func encoded(with announcement: Announcement?) -> [UInt8] {
        var writer = WireWriter()
        writer.write(Wire.discoveryMarker)
        writer.write(kind.rawValue)
        writer.write(timeToLive)
        writer.write(UInt16(0))
        writer.write(sender.bits)
        announcement?.encode(into: &writer)
        return writer.bytes
    }
}

extension Announcement {
    fileprivate func encode(into writer: inout WireWriter) {
        writer.beginEntry(EntryKey.timeline, size: 24)
        writer.write(timeline.tempo.microsecondsPerBeat)
        writer.write(timeline.beatOrigin.microbeats)
        writer.write(timeline.timeOrigin.microseconds)
        writer.beginEntry(EntryKey.session, size: 8)
        writer.write(session.bits)
        writer.beginEntry(EntryKey.startStop, size: 17)
        writer.write(UInt8(startStop.isPlaying ? 1 : 0))
        writer.write(startStop.beats.microbeats)
        writer.write(startStop.timestamp.microseconds)
        guard let measurementEndpoint else { return }
        switch measurementEndpoint.address {
        case .v4(let bits):
            writer.beginEntry(EntryKey.measurementEndpoint4, size: 6)
            writer.write(bits)
        case .v6(let high, let low):
            writer.beginEntry(EntryKey.measurementEndpoint6, size: 18)
            writer.write(high)
            writer.write(low)
        }
        writer.write(measurementEndpoint.port)
    }
}
