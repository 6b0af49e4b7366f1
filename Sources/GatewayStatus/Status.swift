/// Who leads tempo, beat and transport.
package enum Mode: String, Codable, Sendable {
    /// The Link session, alone or with peers.
    case link
    /// An external MIDI clock leader.
    case follow
    /// The user of this gateway.
    case `internal`
}

/// The whole status as one value, for panels and scripts; its keys are the public JSON contract.
///
/// A value that does not exist is nil and encodes as `null`: keys never vanish.
package struct Status: Codable, Hashable, Sendable {
    /// This program's version.
    package static let version = "0.2.0"

    package var version: String
    /// The gateway's process ID; nil from versions that do not report it.
    package var pid: Int?
    package var mode: Mode
    /// Why this mode, in a few words.
    package var reason: String
    /// Beats per minute.
    package var tempo: Double
    /// The shown beat; negative during a count-in.
    package var beat: Double
    /// The position in the quantum, in beats.
    package var phase: Double
    /// Length of the quantum in beats.
    package var quantum: Double
    package var playing: Bool
    package var transport: TransportPhase
    /// Beats until a pending Start; nil if none is pending.
    @Nullable package var startsInBeats: Double?
    /// Beats since the song began; nil unless it plays.
    @Nullable package var songBeats: Double?
    package var link: Link
    package var follower: Follower
    package var outputs: [Output]
    package var realtime: Realtime
    package var warnings: [Warning]
    /// What undo would do now, such as `tempo back to 120 BPM`; nil if there is nothing to undo.
    @Nullable package var undo: String?
    /// What the taps of the last seconds say; nil if there were none.
    @Nullable package var taps: Taps?

    package init(
        version: String, pid: Int? = nil, mode: Mode, reason: String, tempo: Double, beat: Double, phase: Double,
        quantum: Double, playing: Bool, transport: TransportPhase, startsInBeats: Double?, songBeats: Double? = nil,
        link: Link, follower: Follower,
        outputs: [Output], realtime: Realtime, warnings: [Warning], undo: String? = nil, taps: Taps? = nil
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
        self.songBeats = songBeats
        self.link = link
        self.follower = follower
        self.outputs = outputs
        self.realtime = realtime
        self.warnings = warnings
        self.undo = undo
        self.taps = taps
    }

    /// Taps of a tempo.
    package struct Taps: Codable, Hashable, Sendable {
        /// How many agree.
        package var counted: Int
        /// How many must; more than `counted` while the taps so far have not set a tempo.
        package var wanted: Int

        package init(counted: Int, wanted: Int) {
            self.counted = counted
            self.wanted = wanted
        }
    }

    package enum TransportPhase: String, Codable, Sendable {
        case stopped
        /// Playing begins when `startsInBeats` reaches zero.
        case pending
        case playing
    }

    package struct Link: Codable, Hashable, Sendable {
        /// The user's switch.
        package var enabled: Bool
        /// Whether the program takes part in a session.
        ///
        /// False while Link is disabled, and while the program is off the network because nothing uses Link.
        package var active: Bool
        /// Whether there is at least one peer.
        package var connected: Bool
        package var peers: Int
        /// Eight bytes in hexadecimal; nil while Link is disabled.
        @Nullable package var sessionId: String?
        package var startStopSync: Bool
        /// The addresses in use.
        package var interfaces: [String]
        @Nullable package var measurementErrorMicroseconds: Double?
        /// The newest change of the session; nil before the first.
        @Nullable package var lastChange: Change?

        package init(
            enabled: Bool, active: Bool, connected: Bool, peers: Int, sessionId: String?, startStopSync: Bool,
            interfaces: [String], measurementErrorMicroseconds: Double?, lastChange: Change? = nil
        ) {
            self.enabled = enabled
            self.active = active
            self.connected = connected
            self.peers = peers
            self.sessionId = sessionId
            self.startStopSync = startStopSync
            self.interfaces = interfaces
            self.measurementErrorMicroseconds = measurementErrorMicroseconds
            self.lastChange = lastChange
        }
    }

    package struct Output: Codable, Hashable, Sendable {
        /// A slug, unique among the outputs.
        package var id: String
        package var name: String
        @Nullable package var profile: String?
        /// `client:port` of the device, or the path of a raw line; nil while absent.
        ///
        /// While an output of our own waits for subscribers, it is the number of that port.
        @Nullable package var port: String?
        package var connected: Bool
        package var enabled: Bool
        /// The rate of its MIDI time code, such as `25` or `30drop`; nil if it sends a clock.
        ///
        /// With time code, all counts of ticks are of its quarter frames.
        @Nullable package var timeCode: String?
        /// What is known of the sound card that it plays on; nil if it sends MIDI, or while the card is absent.
        ///
        /// On a card, all counts of ticks are of clock pulses.
        @Nullable package var soundCard: SoundCard?
        /// Names of groups that it belongs to; a command for a group is for all outputs in it.
        package var groups: [String]
        /// How its device is held off the tempo, or goes back to its place; nil while it is in its place.
        @Nullable package var bend: Bend?
        /// Whether it was asked to be stopped while its clock goes on, until it is let in.
        package var muted: Bool
        /// Beat of the song at which the device will be stopped, or enter; while none plays, of the next song.
        ///
        /// Nil if no such beat is ahead.
        @Nullable package var changesAtBeat: Double?
        /// Ticks sent since the gateway started, while the device was connected.
        package var ticks: Int
        /// Ticks sent more than 1 ms late.
        package var lateTicks: Int
        /// Ticks left out for good, because a stall has made them too late to be made up.
        package var skippedTicks: Int
        package var offsetMilliseconds: Double
        /// Pulses per tick, and ticks per pulse, as configured.
        package var multiply: Int
        package var divide: Int
        /// Percent; 50 is straight.
        package var swing: Double
        /// The tempos that others are folded into, as two limits in BPM; nil if none is folded.
        @Nullable package var range: [Double]?
        /// BPM that the device reads from its clock, at 24 ticks a beat; nil while it gets no clock.
        @Nullable package var sentTempo: Double?
        /// Nil before the first tick, and while the device is absent.
        @Nullable package var latenessMicroseconds: Lateness?
        /// Nil if no tick was sent in the last minute, and while the device is absent.
        @Nullable package var lastMinute: Punctuality?

        /// Whether its device is absent, so that there are no figures.
        package var isAbsent: Bool { port == nil && latenessMicroseconds == nil }

        package init(
            id: String, name: String, profile: String?, port: String?, connected: Bool, enabled: Bool, ticks: Int,
            lateTicks: Int, skippedTicks: Int = 0, offsetMilliseconds: Double, multiply: Int, divide: Int,
            swing: Double,
            range: [Double]? = nil, sentTempo: Double? = nil, latenessMicroseconds: Lateness?,
            lastMinute: Punctuality? = nil, timeCode: String? = nil, soundCard: SoundCard? = nil,
            groups: [String] = [], bend: Bend? = nil, muted: Bool = false, changesAtBeat: Double? = nil
        ) {
            self.id = id
            self.name = name
            self.profile = profile
            self.port = port
            self.connected = connected
            self.enabled = enabled
            self.ticks = ticks
            self.lateTicks = lateTicks
            self.skippedTicks = skippedTicks
            self.offsetMilliseconds = offsetMilliseconds
            self.multiply = multiply
            self.divide = divide
            self.swing = swing
            self.range = range
            self.sentTempo = sentTempo
            self.latenessMicroseconds = latenessMicroseconds
            self.lastMinute = lastMinute
            self.timeCode = timeCode
            self.soundCard = soundCard
            self.groups = groups
            self.bend = bend
            self.muted = muted
            self.changesAtBeat = changesAtBeat
        }
    }

    /// A device that runs faster or slower for a while.
    package struct Bend: Codable, Hashable, Sendable {
        /// How much faster it is held; 0 while it goes back to its place.
        package var percent: Double
        /// How far it is from its place; positive is late.
        package var milliseconds: Double

        package init(percent: Double, milliseconds: Double) {
            self.percent = percent
            self.milliseconds = milliseconds
        }
    }

    /// The sound card that an output plays on.
    package struct SoundCard: Codable, Hashable, Sendable {
        /// In Hz.
        package var sampleRate: Int
        /// Whether the card itself tells how far it is; a sound server or a converter before it tells that less exactly.
        package var ownClock: Bool
        /// By how much the card is faster than its sample rate says, and the standard error of that; nil in the first
        /// seconds.
        @Nullable package var partsPerMillion: Double?
        @Nullable package var errorPartsPerMillion: Double?
        /// How often it fell silent, because it was not written to in time.
        package var underruns: Int

        package init(
            sampleRate: Int, ownClock: Bool, partsPerMillion: Double?, errorPartsPerMillion: Double?, underruns: Int
        ) {
            self.sampleRate = sampleRate
            self.ownClock = ownClock
            self.partsPerMillion = partsPerMillion
            self.errorPartsPerMillion = errorPartsPerMillion
            self.underruns = underruns
        }
    }

    /// How punctual an output's ticks were in the last minute.
    package struct Punctuality: Codable, Hashable, Sendable {
        /// Ticks sent or skipped.
        package var ticks: Int
        /// Ticks sent more than 1 ms late, or skipped.
        package var lateTicks: Int
        /// The largest delay, 1 s at most.
        package var maxMicroseconds: Int
        package var timing: Timing

        /// What a musician makes of it.
        package enum Timing: String, Codable, Sendable {
            /// Hardly a tick was late, and none by more than 5 ms.
            case inTime = "in-time"
            /// More than one in a thousand was late, and at least three; or one by more than 5 ms.
            case loose
            /// More than one in a hundred was late, and at least three.
            case late
        }

        package init(ticks: Int, lateTicks: Int, maxMicroseconds: Int, timing: Timing) {
            self.ticks = ticks
            self.lateTicks = lateTicks
            self.maxMicroseconds = maxMicroseconds
            self.timing = timing
        }
    }

    /// Distribution of delays, in microseconds.
    package struct Lateness: Codable, Hashable, Sendable {
        package var p50: Double
        package var p99: Double
        package var max: Double
        package var histogram: Histogram

        package init(p50: Double, p99: Double, max: Double, histogram: Histogram = Histogram()) {
            self.p50 = p50
            self.p99 = p99
            self.max = max
            self.histogram = histogram
        }

        /// Counts of delays by size.
        package struct Histogram: Codable, Hashable, Sendable {
            /// Limits in microseconds, rising.
            package var below: [Int]
            /// The number below each limit and not below the one before; the last counts the rest.
            package var counts: [Int]
            /// Sum of all delays, in microseconds.
            package var sum: Int

            /// The limits used here, each twice the one before.
            package static let limits = (3...13).map { 1 << $0 }

            package init(counts: [Int] = Array(repeating: 0, count: limits.count + 1), sum: Int = 0) {
                below = Self.limits
                self.counts = counts
                self.sum = sum
            }
        }
    }

    package struct Realtime: Codable, Hashable, Sendable {
        /// `fifo` (granted by limits), `rr` (granted by rtkit) or `other`.
        package var scheduling: String
        /// The real-time priority, 1 to 99; 0 without.
        package var priority: Int
        package var memoryLocked: Bool
        /// How ticks are sent: `direct` or `queue`.
        package var dispatch: String
        /// How late the output thread wakes; nil before its first wake-up.
        @Nullable package var wakeUpLatencyMicroseconds: Lateness?

        package init(
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

    /// A problem for the user to know, with its fix.
    package struct Warning: Codable, Hashable, Sendable {
        /// A stable word for programs, such as `no-sequencer`.
        package var code: String
        package var message: String
        package var fix: String
        /// ID of the output it is about; nil if it is about none or several.
        @Nullable package var output: String?

        package init(code: String, message: String, fix: String, output: String? = nil) {
            self.code = code
            self.message = message
            self.fix = fix
            self.output = output
        }
    }
}

/// An optional that is written as `null` instead of being left out.
@propertyWrapper
package struct Nullable<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    package var wrappedValue: Value?

    package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}
