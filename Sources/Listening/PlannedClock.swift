internal import BeatTime
internal import CardOutput
internal import ClockDispatch
internal import MIDIClock
internal import RealTime
internal import SoundCalibration

/// The clock of an output on a sound card, as an output of MIDI with the same plan would send it.
///
/// A card's output sends no messages that could be received; its pulses are where these are.
struct PlannedClock: OutputClock {
    /// What the output does now; nil while no card plays it.
    private let plan: @Sendable () -> PlayedPlan?
    private var planner = TickPlanner()
    /// Everything before this time is told.
    private var told: HostTime
    private var realigning: OutputBoard.Realigning?
    /// How often the card had fallen silent at the last call; nil if that is not known.
    private var underruns: Int?

    init(at now: HostTime = .now(), _ plan: @escaping @Sendable () -> PlayedPlan?) { (told, self.plan) = (now, plan) }

    mutating func tell(_ calibration: inout SoundCalibration) {
        guard let plan = plan(), plan.underruns == underruns ?? plan.underruns else {
            (told, underruns) = (.now(), nil)
            return calibration.lost()
        }
        underruns = plan.underruns
        for (message, time) in messages(plan, until: .now()) { calibration.sent(message, at: time) }
    }

    /// What is sent until a time.
    ///
    /// - Parameters:
    ///   - played: the newest plan.
    ///   - now: later than at the last call.
    /// - Returns: messages and their times, in order.
    mutating func messages(_ played: PlayedPlan, until now: HostTime) -> [(message: ClockMessage, time: HostTime)] {
        var plan = played.plan
        // Each beat is to be known, also that of a machine which knows only pulses.
        (plan.settings.start, plan.settings.realign) = (.start, .restart)
        (plan.settings.lead, plan.settings.locate, plan.settings.keepsLeadClear) = (0, 0, false)
        (plan.settings.sendsStop, plan.settings.takesContinue, plan.settings.takesSongPosition) = (true, false, false)
        if let realigning, realigning != played.realigning { planner.realign(.atBar) }
        realigning = played.realigning
        var messages: [(ClockMessage, HostTime)] = []
        while let next = planner.next(plan, on: played.map, at: told), next.due <= now {
            told = max(told, next.due)
            planner.sent(next, at: told)
            messages.append((next.message, told))
        }
        told = max(told, now)
        return messages
    }
}
