import ALSASequencer
import ClockMeter
import Doctor
import GatewayStatus

/// A report on a machine and its clocks, with nothing that names a person, a place in a network or in the file system.
///
/// It is safe because it is made of what is listed here: numbers, the program's own words, and a few texts of firmware and
/// devices, from which the user's and the computer's names are removed. Keys are the public JSON contract.
struct Report: Encodable {
    /// This program's version.
    var version: String
    var machine: MachineDescription
    /// USB devices for MIDI or audio.
    var usb: [USBDevice]
    var doctor: [Row]
    /// Absent if no gateway ran.
    var gateway: Gateway?
    /// Absent without a loop cable.
    var loop: Loop?

    /// A finding; names in it are left out.
    struct Row: Encodable {
        var code: String
        var level: String
        var found: String
    }

    struct Gateway: Encodable {
        var version: String
        var mode: Mode
        var tempo: Double
        var transport: Status.TransportPhase
        var link: Link
        var follower: Status.FollowerState
        /// The output thread.
        var realtime: RealTime
        /// Codes of the warnings; of those about an output with its number.
        var warnings: [Warning]
        var outputs: [Output]
    }

    struct Link: Encodable {
        var enabled, active: Bool
        var peers: Int
        var startStopSync: Bool
        var measurementErrorMicroseconds: Double?
    }

    struct RealTime: Encodable {
        var scheduling: String
        var priority: Int
        var memoryLocked: Bool
        var dispatch: String
        var wakeUpMicroseconds: Lateness?
    }

    /// Delays in microseconds, since the gateway's start.
    struct Lateness: Encodable {
        var p50, p99, max: Double

        init?(_ lateness: Status.Lateness?) {
            guard let lateness else { return nil }
            (p50, p99, max) = (lateness.p50, lateness.p99, lateness.max)
        }
    }

    struct Warning: Encodable {
        var code: String
        /// The output's number.
        var output: Int?
    }

    struct Output: Encodable {
        /// Counted from 1, in place of a name.
        var number: Int
        /// A built-in profile, or `own` for one of the user's.
        var profile: String?
        /// `port` of the sequencer, raw `line` or `sound-card`; absent while it has none.
        var kind: Kind?
        /// Where its USB device is.
        var usb: String?
        var connected, enabled: Bool
        var timeCode: String?
        var offsetMilliseconds: Double
        var multiply, divide: Int
        var swing: Double
        /// Counts of the output thread during the measurement.
        var sent: Sent
        var latenessMicroseconds: Lateness?
        /// The sound card, if it plays on one.
        var soundCard: Status.SoundCard?
        /// The measured clock; absent if it was not measured.
        var clock: Clock?

        enum Kind: String, Encodable {
            case port, line
            case soundCard = "sound-card"
        }
    }

    struct Sent: Encodable {
        var ticks, late, skipped: Int
    }

    struct Loop: Encodable {
        var kind: ReportSources.Loop.Kind
        var profile: String?
        var usb: String?
        var clock: Clock
        var sound: SoundFigures?
    }

    /// A clock's figures as in `tactus monitor --json`, without the long lists.
    struct Clock: Encodable {
        var figures: ClockFigures
        var stamps: MonitorReport.Stamps

        private enum Key: String, CodingKey {
            case seconds, state, stamps, tempo, ticks, jitter, silences, transportMessages, errors
        }

        private struct Errors: Encodable {
            var fromMicroseconds, binMicroseconds: Double
            var ticks: [Int]
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(figures.seconds, forKey: .seconds)
            try container.encode(figures.state, forKey: .state)
            try container.encode(stamps, forKey: .stamps)
            try container.encodeIfPresent(figures.tempo, forKey: .tempo)
            try container.encode(figures.ticks, forKey: .ticks)
            try container.encodeIfPresent(figures.jitter, forKey: .jitter)
            try container.encode(figures.silences, forKey: .silences)
            try container.encode(figures.transport.messages, forKey: .transportMessages)
            guard let first = figures.histogram.first else { return }
            let errors = Errors(
                fromMicroseconds: first.fromMicroseconds, binMicroseconds: first.microseconds,
                ticks: figures.histogram.map(\.ticks))
            try container.encode(errors, forKey: .errors)
        }
    }
}

extension Report {
    init(_ sources: ReportSources) {
        let words = sources.privateWords
        version = sources.version
        machine = sources.machine
        machine.model = machine.model.map(words.left)
        machine.processor = machine.processor.map(words.left)
        machine.kernel = words.left(outOf: machine.kernel)
        machine.distribution = machine.distribution.map(words.left)
        usb = sources.devices.map { device in
            var device = device
            device.name = device.name.map(words.left)
            device.controller = device.controller.map(words.left)
            return device
        }
        doctor = sources.findings.map { finding in
            Row(code: finding.code.rawValue, level: finding.level.name, found: finding.text.withoutNames)
        }
        gateway = sources.gateway.map { Gateway($0, sources.knownProfiles) }
        loop = sources.loop.map { loop in
            Loop(
                kind: loop.kind, profile: loop.profile.map { Self.profile($0, sources.knownProfiles) },
                usb: loop.usb, clock: Clock(figures: loop.figures, stamps: loop.stamps), sound: loop.sound)
        }
    }

    fileprivate static func profile(_ id: String, _ known: Set<String>) -> String { known.contains(id) ? id : "own" }
}

extension Report.Gateway {
    fileprivate init(_ gateway: ReportSources.Gateway, _ profiles: Set<String>) {
        let (before, status) = (gateway.before, gateway.after)
        // A gateway that has been started anew counts from 0.
        let old = before.pid == status.pid ? before.outputs : []
        let numbers = Dictionary(status.outputs.map(\.id).enumerated().map { ($1, $0 + 1) }) { first, _ in first }
        version = status.version
        (mode, tempo, transport) = (status.mode, status.tempo, status.transport)
        link = Report.Link(
            enabled: status.link.enabled, active: status.link.active, peers: status.link.peers,
            startStopSync: status.link.startStopSync,
            measurementErrorMicroseconds: status.link.measurementErrorMicroseconds)
        follower = status.follower.state
        realtime = Report.RealTime(
            scheduling: status.realtime.scheduling, priority: status.realtime.priority,
            memoryLocked: status.realtime.memoryLocked, dispatch: status.realtime.dispatch,
            wakeUpMicroseconds: Report.Lateness(status.realtime.wakeUpLatencyMicroseconds))
        warnings = status.warnings.map { warning in
            Report.Warning(code: warning.code, output: warning.output.flatMap { numbers[$0] })
        }
        outputs = status.outputs.enumerated().map { index, output in
            Report.Output(
                output, number: index + 1, since: old.first { $0.id == output.id }, gateway.ports[output.id], profiles)
        }
    }
}

extension Report.Output {
    fileprivate init(
        _ output: Status.Output, number: Int, since old: Status.Output?, _ port: ReportSources.Port?,
        _ profiles: Set<String>
    ) {
        self.number = number
        profile = output.profile.map { Report.profile($0, profiles) }
        let place = output.port.map { PortAddress.read($0) == .name ? Kind.line : .port }
        soundCard = output.soundCard
        kind = port != nil ? .port : soundCard != nil ? .soundCard : place
        usb = port?.usb
        // Afterwards, it is still connected to what has measured it.
        (connected, enabled) = ((old ?? output).connected, output.enabled)
        timeCode = output.timeCode
        offsetMilliseconds = output.offsetMilliseconds
        (multiply, divide, swing) = (output.multiply, output.divide, output.swing)
        sent = Report.Sent(
            ticks: output.ticks - (old?.ticks ?? 0), late: output.lateTicks - (old?.lateTicks ?? 0),
            skipped: output.skippedTicks - (old?.skippedTicks ?? 0))
        latenessMicroseconds = Report.Lateness(output.latenessMicroseconds)
        clock = port.flatMap { port in
            port.figures.map { Report.Clock(figures: $0, stamps: port.hasKernelStamps ? .kernel : .program) }
        }
    }
}
