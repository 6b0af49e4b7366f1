extension Status {
    /// Who is followed while Link is off, and which clocks are ignored.
    package struct Follower: Codable, Hashable, Sendable {
        package var state: FollowerState
        /// Whose clock the user wants followed: `auto`, `off`, or a port; without ports always `auto`.
        package var choice: String
        /// Name of the clock described here; nil if there is none.
        @Nullable package var source: String?
        /// Measured tempo in BPM; nil without an estimate, and while the follower is disabled.
        @Nullable package var tempo: Double?
        /// How far ``tempo`` may be off, in BPM.
        @Nullable package var tempoDoubt: Double?
        /// Standard deviation of a single tick's time.
        @Nullable package var jitterMicroseconds: Double?
        /// Longest time that ticks wait before they are sent or arrive.
        @Nullable package var coarsenessMicroseconds: Double?
        /// What is seen of a clock that is not steady, or arrives twice, for people; nil if there is nothing to say.
        @Nullable package var seen: String?
        /// Ignored ticks of all sources since the start.
        package var refusedTicks: Int
        package var refusedTransport: Int
        /// The clocks whose last messages were ignored, with counts and reasons.
        package var refused: [Refused]

        /// A clock that is ignored.
        package struct Refused: Codable, Hashable, Sendable {
            /// `client:port`, or `clock-in`.
            package var port: String
            package var name: String
            package var reason: String
            package var ticks: Int
            package var transport: Int

            package init(port: String, name: String, reason: String, ticks: Int, transport: Int) {
                self.port = port
                self.name = name
                self.reason = reason
                self.ticks = ticks
                self.transport = transport
            }
        }

        package init(
            state: FollowerState, choice: String = "auto", source: String? = nil, tempo: Double? = nil,
            tempoDoubt: Double? = nil, jitterMicroseconds: Double? = nil, coarsenessMicroseconds: Double? = nil,
            seen: String? = nil, refusedTicks: Int = 0, refusedTransport: Int = 0,
            refused: [Refused] = []
        ) {
            self.state = state
            self.choice = choice
            self.source = source
            self.tempo = tempo
            self.tempoDoubt = tempoDoubt
            self.jitterMicroseconds = jitterMicroseconds
            self.coarsenessMicroseconds = coarsenessMicroseconds
            self.seen = seen
            self.refusedTicks = refusedTicks
            self.refusedTransport = refusedTransport
            self.refused = refused
        }
    }

    package enum FollowerState: String, Codable, Sendable {
        /// Link is enabled.
        case disabled
        /// The user wants nobody followed.
        case off
        /// No clock is heard.
        case waiting
        /// Ticks arrive, but the tempo is not yet clear.
        case settling
        /// A clock is followed.
        case locked
        /// The clock that was followed has fallen silent.
        case lost
    }
}
