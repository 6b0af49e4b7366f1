package import BeatTime

/// Which socket of an interface a datagram belongs to.
package enum Channel: Hashable, Sendable {
    /// Presence and session state; the group's socket and the one that sends count as one.
    case discovery
    /// Pings and pongs.
    case measurement
}

/// A datagram to be sent.
package struct Datagram: Hashable, Sendable {
    /// The local address of the interface whose socket sends it.
    package var interface: IPAddress
    package var channel: Channel
    package var destination: Destination
    package var bytes: [UInt8]
    /// The time in the bytes to update just before sending, if any.
    package var lateStamp: LateStamp?

    init(
        interface: IPAddress, channel: Channel, destination: Destination, bytes: [UInt8], lateStamp: LateStamp? = nil
    ) {
        self.interface = interface
        self.channel = channel
        self.destination = destination
        self.bytes = bytes
        self.lateStamp = lateStamp
    }

    /// Where the bytes hold the time of sending, which must be exact: any delay becomes an error of a clock.
    package struct LateStamp: Hashable, Sendable {
        /// Index of the first of eight bytes.
        var offset: Int
        /// Added to host time to get the time to write.
        var intercept: Int64
    }

    /// The bytes with the present time written into them.
    package func bytes(leavingAt now: HostTime) -> [UInt8] {
        guard let lateStamp else { return bytes }
        var bytes = bytes
        var time = now.microseconds &+ lateStamp.intercept
        for index in (lateStamp.offset..<lateStamp.offset + 8).reversed() where bytes.indices.contains(index) {
            bytes[index] = UInt8(truncatingIfNeeded: time)
            time >>= 8
        }
        return bytes
    }

    package enum Destination: Hashable, Sendable {
        /// Everyone who listens on the interface's network.
        case group
        case peer(Endpoint)
    }
}
