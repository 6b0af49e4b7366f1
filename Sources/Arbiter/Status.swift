/// Who leads tempo, beat and transport.
public enum Mode: String, Codable, Sendable {
    /// The Link session, alone or with peers.
    case link
    /// An external MIDI clock leader.
    case follow
    /// The user of this gateway.
    case `internal`
}

/// Everything a panel, a script or a lamp wants to know, as one value; the keys are the public JSON contract.
///
/// What a part that does not exist yet would fill in is nil and encodes as `null`: keys never vanish.
public struct Status: Codable, Hashable, Sendable {
    /// This program's version.
    public static let version = "0.1.0"

    public var version: String
    /// The gateway's process number; nil from a version that does not tell.
    public var pid: Int?
    public var mode: Mode
    /// Why this mode, in a few words.
    public var reason: String
    /// Beats per minute.
    public var tempo: Double
    /// The shown beat; negative during a count-in.
    public var beat: Double
    /// The position inside the quantum, in beats.
    public var phase: Double
    /// Beats.
    public var quantum: Double
    public var playing: Bool
    public var transport: TransportPhase
    /// Beats until Start; nil unless it is pending.
    @Nullable public var startsInBeats: Double?
    public var link: Link
    public var follower: Follower
    public var outputs: [Output]
    public var realtime: Realtime
    public var warnings: [Warning]

    public init(
        version: String, pid: Int? = nil, mode: Mode, reason: String, tempo: Double, beat: Double, phase: Double,
        quantum: Double, playing: Bool, transport: TransportPhase, startsInBeats: Double?, link: Link,
        follower: Follower,
        outputs: [Output], realtime: Realtime, warnings: [Warning]
    ) {
        self.version = version
        self.pid = pid
        self.mode = mode
        self.reason = reason
        self.tempo = tempo
        self.beat = beat
        self.phase = phase
        self.quantum = quantum
        self.playing = playing
        self.transport = transport
        self.startsInBeats = startsInBeats
        self.link = link
        self.follower = follower
        self.outputs = outputs
        self.realtime = realtime
        self.warnings = warnings
    }

    public enum TransportPhase: String, Codable, Sendable {
        case stopped
        /// Start is set and `startsInBeats` counts down.
        case pending
        case playing
    }

    public struct Link: Codable, Hashable, Sendable {
        /// The user's switch.
        public var enabled: Bool
        /// Whether the program takes part; false only while it has been deactivated without touching the switch.
        public var active: Bool
        /// Whether there is at least one peer.
        public var connected: Bool
        public var peers: Int
        /// Eight bytes in hexadecimal; nil while Link is disabled.
        @Nullable public var sessionId: String?
        public var startStopSync: Bool
        /// The addresses in use.
        public var interfaces: [String]
        @Nullable public var measurementErrorMicroseconds: Double?

        public init(
            enabled: Bool, active: Bool, connected: Bool, peers: Int, sessionId: String?, startStopSync: Bool,
            interfaces: [String], measurementErrorMicroseconds: Double?
        ) {
            self.enabled = enabled
            self.active = active
            self.connected = connected
            self.peers = peers
            self.sessionId = sessionId
            self.startStopSync = startStopSync
            self.interfaces = interfaces
            self.measurementErrorMicroseconds = measurementErrorMicroseconds
        }
    }

    public struct Output: Codable, Hashable, Sendable {
        /// A slug, unique among the outputs.
        public var id: String
        public var name: String
        @Nullable public var profile: String?
        /// `client:port` of the device, or the path of a raw line; nil while it is away.
        @Nullable public var port: String?
        public var connected: Bool
        public var enabled: Bool
        /// Ticks sent since the gateway started, while the device was there.
        public var ticks: Int
        /// Ticks sent more than a millisecond after they were due.
        public var lateTicks: Int
        public var offsetMilliseconds: Double
        /// Pulses for each tick, and ticks for each pulse, as wished.
        public var multiply: Int
        public var divide: Int
        /// Percent; 50 is straight.
        public var swing: Double
        /// Nil before the first tick, and while the device is away.
        @Nullable public var latenessMicroseconds: Lateness?

        /// Whether its device is not there, so that there are no figures to show.
        public var isAway: Bool { port == nil && latenessMicroseconds == nil }

        public init(
            id: String, name: String, profile: String?, port: String?, connected: Bool, enabled: Bool, ticks: Int,
            lateTicks: Int, offsetMilliseconds: Double, multiply: Int, divide: Int, swing: Double,
            latenessMicroseconds: Lateness?
        ) {
            self.id = id
            self.name = name
            self.profile = profile
            self.port = port
            self.connected = connected
            self.enabled = enabled
            self.ticks = ticks
            self.lateTicks = lateTicks
            self.offsetMilliseconds = offsetMilliseconds
            self.multiply = multiply
            self.divide = divide
            self.swing = swing
            self.latenessMicroseconds = latenessMicroseconds
        }
    }

    /// How long after its time something happened, in microseconds.
    public struct Lateness: Codable, Hashable, Sendable {
        public var p50: Double
        public var p99: Double
        public var max: Double
        public var histogram: Histogram

        public init(p50: Double, p99: Double, max: Double, histogram: Histogram = Histogram()) {
            self.p50 = p50
            self.p99 = p99
            self.max = max
            self.histogram = histogram
        }

        /// How often it happened how late.
        public struct Histogram: Codable, Hashable, Sendable {
            /// Limits in microseconds, rising.
            public var below: [Int]
            /// How many lie below each limit and not below the one before, and at last how many below none.
            public var counts: [Int]
            /// All of it together, in microseconds.
            public var sum: Int

            /// What there is to tell, each limit twice the one before.
            public static let limits = (3...13).map { 1 << $0 }

            public init(counts: [Int] = Array(repeating: 0, count: limits.count + 1), sum: Int = 0) {
                below = Self.limits
                self.counts = counts
                self.sum = sum
            }
        }
    }

    public struct Realtime: Codable, Hashable, Sendable {
        /// `fifo` or `other`.
        public var scheduling: String
        public var priority: Int
        public var memoryLocked: Bool
        /// How ticks leave: `direct`, `backstop` or `queue`.
        public var dispatch: String
        /// How long after the time it asked for the output thread wakes; nil before it first has.
        @Nullable public var wakeUpLatencyMicroseconds: Lateness?

        public init(
            scheduling: String, priority: Int, memoryLocked: Bool, dispatch: String,
            wakeUpLatencyMicroseconds: Lateness?
        ) {
            self.scheduling = scheduling
            self.priority = priority
            self.memoryLocked = memoryLocked
            self.dispatch = dispatch
            self.wakeUpLatencyMicroseconds = wakeUpLatencyMicroseconds
        }
    }

    /// Something the user should know, with what to do about it.
    public struct Warning: Codable, Hashable, Sendable {
        /// A stable word for programs, such as `no-sequencer`.
        public var code: String
        public var message: String
        public var fix: String

        public init(code: String, message: String, fix: String) {
            self.code = code
            self.message = message
            self.fix = fix
        }
    }
}

/// An optional whose absence is written as `null` instead of leaving its key out.
@propertyWrapper
public struct Nullable<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    public var wrappedValue: Value?

    public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}
