internal import Arbiter
internal import BeatTime
internal import MIDIClock
internal import RealTime
internal import Synchronization

/// Where an output's messages go.
enum Sink: Hashable, Sendable, BitwiseCopyable {
    /// Nowhere for now: the device is not there.
    case away
    /// Nowhere, on purpose: there is no sequencer, but the clock runs and can be watched.
    case discard
    /// The subscribers of a port of the output client.
    case port(UInt8)
    /// A descriptor that takes bytes.
    case line(Int32)

    /// Whether somebody may take what is sent there, or refuse it.
    var hasReceiver: Bool {
        switch self {
        case .away, .discard: false
        case .port, .line: true
        }
    }
}

/// What the output thread is to do: the one thing it reads, trivially copyable.
struct OutputBoard: Sendable, BitwiseCopyable {
    static let capacity = 64

    var map: TempoMap
    var transport: PlannedTransport
    var count = 0
    var slots = InlineArray<64, Slot>(repeating: Slot())
    /// The sequencer ports that are to exist, one bit each; an output's has the number of its slot.
    var ports: UInt64 = 0
    /// Counts what was published, so that the writer can learn which board is in use.
    var generation: UInt64 = 0

    struct Slot: Sendable, BitwiseCopyable {
        var settings = OutputSettings()
        var sink = Sink.away
        /// Whether it sends; if not, its device is stopped and hears no clock.
        var isEnabled = true
        /// Whether several devices hear it.
        var isShared = false
        /// Counts the outputs that have had this slot.
        var tenant: UInt32 = 0
        /// Counts the times a device has come to this output.
        var connections: UInt32 = 0
        /// The realignment that was asked for last.
        var realigning = Realigning()
        /// What the loop guard asks at this output, or else marks its ticks.
        var probe = Probe.none

        /// The output's plan while the song does what the board says.
        func plan(_ transport: PlannedTransport) -> OutputPlan {
            var plan = OutputPlan(transport: transport, settings: settings, probe: probe, isShared: isShared)
            if !isEnabled {
                plan.transport.isPlaying = false
                plan.settings.isClockAlwaysOn = false
            }
            return plan
        }
    }

    /// A wish to be realigned, told from the one before by its number.
    struct Realigning: Hashable, Sendable, BitwiseCopyable {
        private(set) var number: UInt32 = 0
        private(set) var when = Realignment.atBar

        mutating func ask(_ when: Realignment) {
            number &+= 1
            self.when = when
        }
    }

    /// Takes over what the gateway thread knows of the outputs.
    ///
    /// - Parameters:
    ///   - outputs: in the order of their slots.
    ///   - probing: what the loop guard asks, and at which slots, one bit each.
    mutating func take(_ outputs: [Output], probing: (outputs: UInt64, probe: Probe)? = nil) {
        count = outputs.count
        ports = 0
        for (slot, output) in outputs.enumerated() {
            slots[slot] = Slot(
                settings: output.settings, sink: output.boardSink,
                isEnabled: output.isEnabled, isShared: output.hearers > 1, tenant: output.tenant,
                connections: output.connections, realigning: output.realigning, probe: output.mark)
            if output.hasPort { ports |= 1 << UInt64(slot) }
            if let probing, probing.outputs >> UInt64(slot) & 1 == 1 { slots[slot].probe = probing.probe }
        }
    }
}

/// What the output thread reports of one output; written by it alone, read by anyone.
struct OutputCounters: ~Copyable, Sendable {
    let ticks = Atomic<Int>(0)
    /// Ticks more than a millisecond late.
    let lateTicks = Atomic<Int>(0)
    /// The ticks of the present span of ``Lapse/span``, and of the one before it.
    let recent = Atomic<UInt64>(0)
    let earlier = Atomic<UInt64>(0)
    /// When the present span began, in microseconds of host time.
    let recentSince = Atomic<Int64>(0)
    /// Messages that a device or a line did not take.
    let dropped = Atomic<Int>(0)
    /// A ``TickPlanner/Step``.
    let step = Atomic(TickPlanner.Step.inStep.rawValue)
    /// Whether the line has failed for good and wants opening anew.
    let isLineBroken = Atomic<Bool>(false)
    let lateness = LatencyHistogram()

    /// Begins anew, for another output in the same slot.
    func reset() {
        ticks.store(0, ordering: .relaxed)
        lateTicks.store(0, ordering: .relaxed)
        recent.store(0, ordering: .relaxed)
        earlier.store(0, ordering: .relaxed)
        dropped.store(0, ordering: .relaxed)
        step.store(TickPlanner.Step.inStep.rawValue, ordering: .relaxed)
        isLineBroken.store(false, ordering: .relaxed)
        lateness.reset()
    }

    /// Counts a tick that has left.
    ///
    /// - Parameters:
    ///   - microseconds: how much later than due.
    ///   - time: when.
    func countTick(lateness microseconds: Int64, at time: HostTime) {
        ticks.add(1, ordering: .relaxed)
        lateness.record(microseconds: microseconds)
        if microseconds > 1_000 { lateTicks.add(1, ordering: .relaxed) }
        noteForLapse(isLate: microseconds > 1_000, at: time)
    }
}
