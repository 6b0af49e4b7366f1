package import BeatTime
package import MIDIClock
package import RealTime
package import Synchronization
internal import TimeCode

/// Where an output's messages go.
package enum Sink: Hashable, Sendable, BitwiseCopyable {
    /// Nowhere for now: the device is absent, leads, or is held back. Nothing is planned.
    case idle
    /// Nowhere, on purpose: there is no sequencer, but the clock runs and can be watched.
    case discard
    /// The subscribers of a port of the output client.
    case port(UInt8)
    /// A descriptor that takes bytes.
    case line(Int32)
    /// A sound card, whose own thread plays; the output thread plans nothing.
    case card

    /// Whether the output thread sends there.
    var isForOutputThread: Bool { self != .idle && self != .card }

    var isPort: Bool {
        if case .port = self { true } else { false }
    }

    /// Whether somebody may accept or refuse what is sent there.
    package var hasReceiver: Bool {
        switch self {
        case .idle, .discard, .card: false
        case .port, .line: true
        }
    }
}

/// Everything the output thread is told, as one trivially copyable value.
package struct OutputBoard: Sendable, BitwiseCopyable {
    package static let capacity = 64

    package var map: TempoMap
    package var transport: PlannedTransport
    /// When the song begins or has begun; meaningless while it is stopped.
    package var songBegin = HostTime(microseconds: 0)
    package var count = 0
    package var slots = InlineArray<64, Slot>(repeating: Slot())
    /// Counts published boards, so that the writer can learn which one is in use.
    package var generation: UInt64 = 0

    package init(map: TempoMap, transport: PlannedTransport) {
        self.map = map
        self.transport = transport
    }

    package struct Slot: Sendable, BitwiseCopyable {
        package var stream = StreamKind.clock
        package var settings = OutputSettings()
        package var sink = Sink.idle
        /// Whether it sends; if not, its device is stopped and gets no clock.
        package var isEnabled = true
        /// Whether several devices receive what it sends.
        package var isShared = false
        /// Counts the outputs that have used this slot.
        package var occupant: UInt32 = 0
        /// Counts how often a device has been connected to this output.
        package var connections: UInt32 = 0
        /// The last realignment asked for.
        package var realigning = Realigning()
        /// The loop guard's probe, or the marks on its ticks for calibration.
        package var probe = Probe.none
        /// Where in the song its device does not play.
        package var rest = Rest.none
        /// How much faster somebody holds it, in millionths.
        package var bend: Int64 = 0

        package init(
            stream: StreamKind = .clock, settings: OutputSettings = OutputSettings(), sink: Sink = .idle,
            isEnabled: Bool = true, isShared: Bool = false, occupant: UInt32 = 0, connections: UInt32 = 0,
            realigning: Realigning = Realigning(), probe: Probe = .none, rest: Rest = .none, bend: Int64 = 0
        ) {
            self.stream = stream
            self.settings = settings
            self.sink = sink
            self.isEnabled = isEnabled
            self.isShared = isShared
            self.occupant = occupant
            self.connections = connections
            self.realigning = realigning
            self.probe = probe
            self.rest = rest
            self.bend = bend
        }

        /// The output's plan for a transport.
        package func plan(_ transport: PlannedTransport) -> OutputPlan {
            var plan = OutputPlan(
                transport: transport, settings: settings, probe: probe, isShared: isShared, rest: rest,
                bend: bend)
            if !isEnabled {
                plan.transport.isPlaying = false
                plan.settings.isClockAlwaysOn = false
            }
            return plan
        }

        /// The plan of an output of time code; nil for another.
        func timeCodePlan(_ shared: SharedPlan) -> TimeCodePlan? {
            guard case .timeCode(let start) = stream else { return nil }
            let begin = shared.transport.isPlaying && isEnabled ? shared.songBegin : nil
            return TimeCodePlan(begin: begin, start: start, offset: settings.offset)
        }
    }

    /// A request to realign, with a number that tells it from the one before.
    package struct Realigning: Hashable, Sendable, BitwiseCopyable {
        package private(set) var number: UInt32 = 0
        package private(set) var when = Realignment.atBar

        package init() {}

        package mutating func ask(_ when: Realignment) {
            number &+= 1
            self.when = when
        }
    }
}

/// Counters of one output, written by the output thread and read by any.
///
/// Only ``isLineBroken`` is cleared by its reader.
package struct OutputCounters: ~Copyable, Sendable {
    package let ticks = Atomic<Int>(0)
    /// Ticks sent more than 1 ms late.
    package let lateTicks = Atomic<Int>(0)
    /// Ticks left out for good, because a stall has made them too late to be made up.
    package let skippedTicks = Atomic<Int>(0)
    let recent = RecentTicks()
    /// Pulses in so many ticks, after folding: the first in the upper half, the second in the lower.
    private let rate = Atomic<UInt64>(1 << 32 | 1)
    /// Messages that a device or a line did not accept since it was connected.
    package let dropped = Atomic<Int>(0)
    /// A ``TickPlanner/SyncState``.
    package let syncState = Atomic(TickPlanner.SyncState.inSync.rawValue)
    /// Whether its device was started, and has not accepted a Stop since.
    let mayPlay = Atomic<Bool>(false)
    /// Whether the line has failed for good and must be opened again.
    package let isLineBroken = Atomic<Bool>(false)
    package let lateness = LatencyHistogram()

    /// Resets everything, for another output in the same slot.
    func reset() {
        ticks.store(0, ordering: .relaxed)
        lateTicks.store(0, ordering: .relaxed)
        skippedTicks.store(0, ordering: .relaxed)
        recent.reset()
        rate.store(1 << 32 | 1, ordering: .relaxed)
        dropped.store(0, ordering: .relaxed)
        syncState.store(TickPlanner.SyncState.inSync.rawValue, ordering: .relaxed)
        mayPlay.store(false, ordering: .relaxed)
        isLineBroken.store(false, ordering: .relaxed)
        lateness.reset()
    }

    /// Counts a sent tick.
    ///
    /// - Parameters:
    ///   - microseconds: its lateness.
    ///   - time: when it was sent.
    func countTick(lateness microseconds: Int64, at time: HostTime) {
        ticks.add(1, ordering: .relaxed)
        lateness.record(microseconds: microseconds)
        if RecentTicks.isLate(microseconds) { lateTicks.add(1, ordering: .relaxed) }
        recent.note(lateness: microseconds, at: time)
    }

    /// Counts what a sound card's thread has played and left out; on that thread.
    package func countPulses(_ pulses: Int, skipped: Int) {
        ticks.add(pulses, ordering: .relaxed)
        skippedTicks.add(skipped, ordering: .relaxed)
    }

    /// Counts sent ticks as late that seemed to be on time; on the output thread.
    func countLate(_ count: Int, lateness microseconds: Int64, at time: HostTime) {
        lateTicks.add(count, ordering: .relaxed)
        lateness.record(microseconds: microseconds)
        recent.note(count, lateness: microseconds, at: time, areCounted: true)
    }

    /// Counts skipped ticks; on the output thread.
    func countSkipped(_ skipped: TickPlanner.Skipped, at time: HostTime) {
        let count = Int(clamping: skipped.pulses)
        skippedTicks.add(count, ordering: .relaxed)
        recent.note(count, lateness: skipped.lateness, at: time)
    }

    /// Publishes how many pulses a planner sends for how many ticks; on the output thread.
    func publish(_ rate: TickPlanner.Rate) {
        self.rate.store(UInt64(rate.multiply) << 32 | UInt64(rate.divide), ordering: .relaxed)
    }

    /// The output's pulses per tick of the session, after folding.
    package var pulsesPerTick: Double {
        let word = rate.load(ordering: .relaxed)
        return Double(word >> 32) / Double(word & 0xFFFF_FFFF)
    }
}
