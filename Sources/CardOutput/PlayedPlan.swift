package import ClockDispatch
package import MIDIClock

/// What an output on a sound card does at present.
package struct PlayedPlan: Sendable {
    package var plan: OutputPlan
    package var map: TempoMap
    /// The last realignment asked for.
    package var realigning: OutputBoard.Realigning
    /// How often the card has fallen silent.
    package var underruns: Int

    package init(plan: OutputPlan, map: TempoMap, realigning: OutputBoard.Realigning = .init(), underruns: Int = 0) {
        (self.plan, self.map, self.realigning, self.underruns) = (plan, map, realigning, underruns)
    }
}
