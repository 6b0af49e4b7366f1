package import ClockDispatch
package import MIDIClock

/// What an output on a sound card does at present.
package struct PlayedPlan: Sendable {
    package var plan: OutputPlan
    package var map: TempoMap
    /// The last realignment asked for.
    package var realigning: OutputBoard.Realigning

    package init(plan: OutputPlan, map: TempoMap, realigning: OutputBoard.Realigning = .init()) {
        (self.plan, self.map, self.realigning) = (plan, map, realigning)
    }
}
