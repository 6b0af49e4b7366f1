internal import BeatTime
package import MIDIClock
package import RealTime
package import Synchronization

/// Where an output's messages go.
package enum Sink: Hashable, Sendable, BitwiseCopyable {
    /// Nowhere for now: the device is not there.
    case away
    /// Nowhere, on purpose: there is no sequencer, but the clock runs and can be watched.
    case discard
    /// The subscribers of a port of the output client.
    case port(UInt8)
    /// A descriptor that takes bytes.
    case line(Int32)

    /// Whether somebody may take what is sent there, or refuse it.
    package var hasReceiver: Bool {
        switch self {
        case .away, .discard: false
        case .port, .line: true
        }
    }
}

/// What the output thread is to do: the one thing it reads, trivially copyable.
package struct OutputBoard: Sendable, BitwiseCopyable {
    package static let capacity = 64

    package var map: TempoMap
    package var transport: PlannedTransport
    package var count = 0
    package var slots = InlineArray<64, Slot>(repeating: Slot())
    /// The sequencer ports that are to exist, one bit each; an output's has the number of its slot.
    package var ports: UInt64 = 0
    /// Counts what was published, so that the writer can learn which board is in use.
    package var generation: UInt64 = 0

    package init(map: TempoMap, transport: PlannedTransport) {
        self.map = map
        self.transport = transport
    }

    package struct Slot: Sendable, BitwiseCopyable {
        package var settings = OutputSettings()
        package var sink = Sink.away
        /// Whether it sends; if not, its device is stopped and hears no clock.
        package var isEnabled = true
        /// Whether several devices hear it.
        package var isShared = false
        /// Counts the outputs that have had this slot.
        package var occupant: UInt32 = 0
        /// Counts the times a device has come to this output.
        package var connections: UInt32 = 0
        /// The realignment that was asked for last.
        package var realigning = Realigning()
        /// What the loop guard asks at this output, or else marks its ticks.
        package var probe = Probe.none

        package init(
            settings: OutputSettings = OutputSettings(), sink: Sink = .away, isEnabled: Bool = true,
            isShared: Bool = false, occupant: UInt32 = 0, connections: UInt32 = 0,
            realigning: Realigning = Realigning(), probe: Probe = .none
        ) {
            self.settings = settings
            self.sink = sink
            self.isEnabled = isEnabled
            self.isShared = isShared
            self.occupant = occupant
            self.connections = connections
            self.realigning = realigning
            self.probe = probe
        }

        /// The output's plan while the song does what the board says.
        package func plan(_ transport: PlannedTransport) -> OutputPlan {
            var plan = OutputPlan(transport: transport, settings: settings, probe: probe, isShared: isShared)
            if !isEnabled {
                plan.transport.isPlaying = false
                plan.settings.isClockAlwaysOn = false
            }
            return plan
        }
    }

    /// A wish to be realigned, told from the one before by its number.
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

/// What the output thread reports of one output; written by it alone, read by anyone.
package struct OutputCounters: ~Copyable, Sendable {
    package let ticks = Atomic<Int>(0)
    /// Ticks more than a millisecond late.
    package let lateTicks = Atomic<Int>(0)
    /// The ticks of the present span of ``DeadlineHealth/span``, and of the one before it.
    let recent = Atomic<UInt64>(0)
    let earlier = Atomic<UInt64>(0)
    /// When the present span began, in microseconds of host time.
    let recentSince = Atomic<Int64>(0)
    /// Messages that a device or a line did not take.
    package let dropped = Atomic<Int>(0)
    /// A ``TickPlanner/Step``.
    package let step = Atomic(TickPlanner.Step.inStep.rawValue)
    /// Whether its device has been started, and has not taken a Stop since.
    let mayPlay = Atomic<Bool>(false)
    /// Whether the line has failed for good and wants opening anew.
    package let isLineBroken = Atomic<Bool>(false)
    package let lateness = LatencyHistogram()

    /// Begins anew, for another output in the same slot.
    func reset() {
        ticks.store(0, ordering: .relaxed)
        lateTicks.store(0, ordering: .relaxed)
        recent.store(0, ordering: .relaxed)
        earlier.store(0, ordering: .relaxed)
        dropped.store(0, ordering: .relaxed)
        step.store(TickPlanner.Step.inStep.rawValue, ordering: .relaxed)
        mayPlay.store(false, ordering: .relaxed)
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
        noteDeadline(isLate: microseconds > 1_000, at: time)
    }
}
