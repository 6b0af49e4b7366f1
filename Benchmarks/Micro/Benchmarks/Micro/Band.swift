import BeatTime
import MIDIClock

/// Outputs of all kinds, playing in virtual time.
struct Band {
    private var planners: [TickPlanner]
    private let plans: [OutputPlan]
    private let map = TempoMap(
        TickLine(microsecondsPerBeat: 500_000, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0))
    private var now = HostTime(microseconds: 1)

    init(outputs: Int) {
        planners = Array(repeating: TickPlanner(), count: outputs)
        plans = (0..<outputs).map { index in
            var settings = OutputSettings()
            settings.offset = Int64(index) * 731 - 20_000
            settings.multiply = [1, 1, 2, 1, 4][index % 5]
            settings.divide = [1, 1, 1, 3][index % 4]
            settings.swing = index % 3 == 0 ? 580 : 500
            return OutputPlan(
                transport: PlannedTransport(isPlaying: true, startTick: 96, ticksPerBar: 96), settings: settings)
        }
        // Everybody has started before anything is measured.
        for _ in 0..<300 { playTick() }
    }

    /// All that leaves within the time of one tick.
    mutating func playTick() {
        let end = now.advanced(byMicroseconds: 20_833)
        for index in planners.indices {
            var time = now
            while let planned = planners[index].next(plans[index], on: map, at: time), planned.due < end {
                time = max(time, planned.due)
                planners[index].sent(planned, at: time)
            }
        }
        now = end
    }
}
