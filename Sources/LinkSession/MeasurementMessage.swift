package import BeatTime

/// A message of the exchange in which a peer measures another session's ghost time.
package enum MeasurementMessage: Hashable, Sendable {
    /// The payload to echo, not parsed.
    case ping(ArraySlice<UInt8>)
    case pong(Pong)

    /// The answer to a ping: the responder's ghost time, and the ping's payload.
    package struct Pong: Hashable, Sendable {
        package var session: NodeID
        package var ghostTime: GhostTime
        /// When the echoed ping was sent, by the clock of the ping's sender; zero if not given.
        package var hostTime: HostTime
        /// The last ghost time that the ping's sender had received before; zero if none.
        package var previousGhostTime: GhostTime

        package init(session: NodeID, ghostTime: GhostTime, hostTime: HostTime, previousGhostTime: GhostTime) {
            self.session = session
            self.ghostTime = ghostTime
            self.hostTime = hostTime
            self.previousGhostTime = previousGhostTime
        }
    }

    package init(_ datagram: [UInt8]) throws(WireError) {
        var reader = WireReader(datagram.prefix(Wire.receiveLimit))
        guard try reader.integer(UInt64.self) == Wire.measurementMarker else { throw .foreignMarker }
        switch try reader.integer(UInt8.self) {
        case 1:
            guard reader.remaining.count <= Wire.pingLimit else { throw .tooLong }
            self = .ping(reader.remaining)
        case 2: self = .pong(try Pong(&reader))
        default: throw .unknownType
        }
    }

    /// Position of the sending time in a ping, and of the ghost time in a pong.
    static let hostTimeOffset = 17
    static let ghostTimeOffset = 33

    /// A ping with its sending time and, except for the first, the last ghost time received.
    package static func ping(hostTime: HostTime, previousGhostTime: GhostTime? = nil) -> [UInt8] {
        var writer = WireWriter()
        writer.write(Wire.measurementMarker)
        writer.write(UInt8(1))
        writer.beginEntry(EntryKey.hostTime, size: 8)
        writer.write(hostTime.microseconds)
        if let previousGhostTime {
            writer.beginEntry(EntryKey.previousGhostTime, size: 8)
            writer.write(previousGhostTime.microseconds)
        }
        return writer.bytes
    }

    /// The answer to a ping.
    package static func pong(session: NodeID, ghostTime: GhostTime, echoing payload: ArraySlice<UInt8>) -> [UInt8] {
        var writer = WireWriter()
        writer.write(Wire.measurementMarker)
        writer.write(UInt8(2))
        writer.beginEntry(EntryKey.session, size: 8)
        writer.write(session.bits)
        writer.beginEntry(EntryKey.ghostTime, size: 8)
        writer.write(ghostTime.microseconds)
        writer.write(payload)
        return writer.bytes
    }
}

extension MeasurementMessage.Pong {
    fileprivate init(_ reader: inout WireReader) throws(WireError) {
        self.init(
            session: NodeID(bits: 0), ghostTime: GhostTime(microseconds: 0), hostTime: HostTime(microseconds: 0),
            previousGhostTime: GhostTime(microseconds: 0))
        while !reader.isAtEnd {
            let entry = try reader.entry()
            switch entry.key {
            case EntryKey.session, EntryKey.ghostTime, EntryKey.hostTime, EntryKey.previousGhostTime: break
            default: continue
            }
            var body = try body(entry.body, ofSize: 8)
            switch entry.key {
            case EntryKey.session: session = NodeID(bits: try body.integer())
            case EntryKey.ghostTime: ghostTime = GhostTime(microseconds: try body.integer())
            case EntryKey.hostTime: hostTime = HostTime(microseconds: try body.integer())
            default: previousGhostTime = GhostTime(microseconds: try body.integer())
            }
        }
    }
}
