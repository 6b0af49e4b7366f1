package import LoopGuard
package import MIDIClock

/// Which machine may lead while Link is off.
package enum LeaderChoice: Hashable, Sendable {
    /// Nobody: incoming clocks are ignored.
    case none
    /// The first of these whose clock is steady, for as long as it arrives.
    case anyOf(Set<ClockSource>)
    /// This one and no other; nil while it is absent.
    case only(ClockSource?)
}

/// The sources whose clocks can be received, and what is known about them.
package struct AvailableSources: Sendable {
    /// Which of them may lead.
    package var choice: LeaderChoice
    /// Their names.
    package var names: [ClockSource: String]
    /// How our own clock may reach them by subscriptions; has an entry for every source.
    package var paths: [ClockSource: LoopPath]
    /// Earliest and latest shift of our ticks by the outputs' offsets, in microseconds.
    package var offsets: ClosedRange<Int64>
    /// Machines whose Start, Continue and Stop act as a remote control.
    package var remotes: Set<ClockSource>
    /// Audio periods of those that are known, in microseconds.
    package var periods: [ClockSource: Double]

    package init(
        choice: LeaderChoice, names: [ClockSource: String] = [:], paths: [ClockSource: LoopPath],
        offsets: ClosedRange<Int64> = 0...0, remotes: Set<ClockSource> = [], periods: [ClockSource: Double] = [:]
    ) {
        self.choice = choice
        self.names = names
        self.paths = paths
        self.offsets = offsets
        self.remotes = remotes
        self.periods = periods
    }
}
