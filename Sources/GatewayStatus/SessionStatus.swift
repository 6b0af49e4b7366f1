extension Status {
    /// A change of the session, and who made it.
    package struct Change: Codable, Hashable, Sendable {
        /// Counts changes from 1; a turned knob uses several numbers, but is one entry.
        package var number: Int
        package var what: What
        /// The new tempo in BPM; nil for play and stop.
        @Nullable package var value: Double?
        /// The tempo before; only for `joined`.
        @Nullable package var previous: Double?
        /// The joined session; nil for all others.
        @Nullable package var session: String?
        package var origin: Origin
        /// The originator's address and node ID, nil unless it is a peer; for `joined`, those of its founder.
        @Nullable package var address: String?
        @Nullable package var node: String?
        /// When it was heard, as ISO 8601 in UTC.
        package var at: String
        /// Whether the originator is a guess.
        package var probable: Bool
        /// Whether the gateway goes along; false for play and stop of others while start/stop sync is off.
        package var followed: Bool

        package enum What: String, Codable, Sendable {
            case tempo
            case play
            case stop
            /// The gateway joined another session; the value is its tempo.
            case joined
        }

        package enum Origin: String, Codable, Sendable {
            /// This gateway: its user, or the leader that it follows.
            case here
            case peer
            case unknown
        }

        package init(
            number: Int, what: What, value: Double? = nil, previous: Double? = nil, session: String? = nil,
            origin: Origin, address: String? = nil, node: String? = nil, at: String, probable: Bool = false,
            followed: Bool = true
        ) {
            self.number = number
            self.what = what
            self.value = value
            self.previous = previous
            self.session = session
            self.origin = origin
            self.address = address
            self.node = node
            self.at = at
            self.probable = probable
            self.followed = followed
        }
    }
}

/// A Link peer that the gateway hears.
package struct SessionPeer: Codable, Hashable, Sendable {
    package var node: String
    package var session: String
    /// Whether it is in the gateway's session.
    package var together: Bool
    package var address: String
    package var interfaces: [Interface]
    /// The tempo that it announces, in BPM.
    package var tempo: Double
    /// When it was first heard, as ISO 8601 in UTC.
    package var since: String
    /// Median time of a ping and its answer; nil for peers that were not measured.
    @Nullable package var roundTripMicroseconds: Double?
    /// Greatest possible error of the session's clock; nil unless it is measured through this peer.
    @Nullable package var clockErrorMicroseconds: Double?
    /// Whether it runs on the gateway's computer.
    package var local: Bool
    /// The UDP port of its measurements.
    @Nullable package var port: Int?
    /// The program, if it runs on the gateway's computer and the gateway may see it.
    @Nullable package var program: String?

    /// An interface of the gateway's computer on which the peer is heard.
    package struct Interface: Codable, Hashable, Sendable {
        @Nullable package var name: String?
        package var address: String

        package init(name: String?, address: String) {
            self.name = name
            self.address = address
        }
    }

    package init(
        node: String, session: String, together: Bool, address: String, interfaces: [Interface], tempo: Double,
        since: String, roundTripMicroseconds: Double? = nil, clockErrorMicroseconds: Double? = nil,
        local: Bool = false, port: Int? = nil, program: String? = nil
    ) {
        self.node = node
        self.session = session
        self.together = together
        self.address = address
        self.interfaces = interfaces
        self.tempo = tempo
        self.since = since
        self.roundTripMicroseconds = roundTripMicroseconds
        self.clockErrorMicroseconds = clockErrorMicroseconds
        self.local = local
        self.port = port
        self.program = program
    }
}
