import Simulation

/// One kind of jitter at one tempo.
struct Setting {
    let name: String
    let jitter: LeaderClock.Jitter
    /// Standard deviation of one stamp in microseconds.
    let deviation: Double
    let tempo: Double

    static let all = [
        Setting(name: "Gaussian 0.1 ms", jitter: .gaussian(100), deviation: 100, tempo: 120),
        Setting(name: "uniform 1 ms (USB)", jitter: .uniform(1_000), deviation: 288.7, tempo: 120),
        Setting(name: "Gaussian 1 ms", jitter: .gaussian(1_000), deviation: 1_000, tempo: 120),
        Setting(name: "half-normal 0.5 ms, 1 % exponential 8 ms", jitter: .heavyTailed, deviation: 301.4, tempo: 120),
        Setting(name: "frames of 1 ms, 125.1 BPM", jitter: .frames, deviation: 288.7, tempo: 125.1),
        Setting(name: "frames of 1 ms, 131.7 BPM", jitter: .frames, deviation: 288.7, tempo: 131.7),
    ]

    /// The Cramér-Rao bound of a window in beats per minute.
    func tempoBound(_ window: Int) -> Double {
        let count = Double(window)
        return deviation * (12 / (count * (count * count - 1))).squareRoot() * tempo * tempo / 2_500_000
    }

    /// The bound of the prediction of the next tick in microseconds.
    func phaseBound(_ window: Int) -> Double {
        let count = Double(window)
        return deviation * ((4 * count + 2) / (count * (count - 1))).squareRoot()
    }
}

/// An event that happens at tick 600.
enum Event: String, CaseIterable {
    case lostOne = "1 lost"
    case lostThree = "3 lost"
    case lostTwelve = "12 lost"
    case stall = "75 ms stall"
    case doubled = "3 doubled"
    case stallAndStep = "stall, +6 BPM"
    case swing = "swing 58 %"
    case hardSwing = "swing 66 %"

    static let at = 600

    var faults: [LeaderClock.Fault] {
        switch self {
        case .lostOne: [.lost(600..<601)]
        case .lostThree: [.lost(600..<603)]
        case .lostTwelve: [.lost(600..<612)]
        case .stall, .stallAndStep: [.stall(after: 600, microseconds: 75_000)]
        case .doubled: [.doubled(600), .doubled(610), .doubled(611)]
        case .swing, .hardSwing: []
        }
    }

    func leader(_ setting: Setting, _ random: inout SeededGenerator) -> LeaderClock {
        let step = self == .stallAndStep ? 6.0 : 0
        // Swing lasts from the first tick on, because a leader does not begin to swing in the middle.
        let swing = self == .swing ? 0.16 : self == .hardSwing ? 0.32 : 0
        return LeaderClock(count: 1_000, jitter: setting.jitter, faults: faults, swing: swing, random: &random) {
            setting.tempo + ($0 >= Self.at ? step : 0)
        }
    }
}

/// A method's results for one setting; each figure is the median of all runs unless stated otherwise.
struct Result {
    var lock: [Double] = []
    var tempo: [Double] = []
    var phase: [Double] = []
    /// Errors as multiples of the bound of the window in use.
    var tempoOverBound: [Double] = []
    var phaseOverBound: [Double] = []
    var stepSettling: [Double] = []
    var stepPhase: [Double] = []
    var rampPhase: [Double] = []
    /// Excursions of the tempo by more than half a beat per minute, in all steady runs together.
    var alarms = 0
    var steadyTicks = 0
    var events: [Event: EventResult] = [:]
}

/// A method's errors after an event.
struct EventResult {
    /// Largest errors in BPM and microseconds.
    var tempo: [Double] = []
    var phase: [Double] = []
    /// Ticks after the event until the tempo is right.
    var recovery: [Double] = []
    /// Ticks by which the count is off at the end.
    var count: [Double] = []
}

func measure(_ setting: Setting, _ method: any Method, runs: ClosedRange<UInt64>) -> Result {
    var result = Result()
    for seed in runs {
        var random = SeededGenerator(seed: seed)
        let delay = addSteady(setting, method, &random, to: &result)
        addChanges(setting, method, delay, &random, to: &result)
        for event in Event.allCases {
            let leader = event.leader(setting, &random)
            add(event, readings(leader, of: method), delay, setting, leader, to: &result)
        }
    }
    return result
}

/// Measures errors and locking at a steady tempo; returns the line's mean delay, which no follower can know.
private func addSteady(
    _ setting: Setting, _ method: any Method, _ random: inout SeededGenerator, to result: inout Result
) -> Double {
    let leader = LeaderClock(count: 4_600, jitter: setting.jitter, random: &random) { _ in setting.tempo }
    let all = readings(leader, of: method)
    result.lock.append(settling(all, after: 0, within: 0.1))
    let steady = all.filter { $0.number >= 600 }
    let delay = mean(steady.map(\.phase))
    result.tempo.append(rootMeanSquare(steady.map(\.tempo)))
    result.phase.append(rootMeanSquare(steady.map { $0.phase - delay }))
    result.tempoOverBound.append(rootMeanSquare(steady.map { $0.tempo / setting.tempoBound($0.window ?? 256) }))
    result.phaseOverBound.append(
        rootMeanSquare(steady.map { ($0.phase - delay) / setting.phaseBound($0.window ?? 256) }))
    for (before, after) in zip(steady, steady.dropFirst()) where abs(after.tempo) > 0.5 && abs(before.tempo) <= 0.5 {
        result.alarms += 1
    }
    result.steadyTicks += steady.count
    return delay
}

/// Measures a step of 6 BPM, and a ramp of 20 BPM over four beats.
private func addChanges(
    _ setting: Setting, _ method: any Method, _ delay: Double, _ random: inout SeededGenerator, to result: inout Result
) {
    let step = LeaderClock(count: 1_000, jitter: setting.jitter, random: &random) {
        setting.tempo + ($0 < 600 ? 0 : 6)
    }
    let stepped = readings(step, of: method)
    result.stepSettling.append(settling(stepped, after: 600, within: 0.25))
    result.stepPhase.append(worst(stepped.filter { $0.number >= 600 }.map { $0.phase - delay }))
    let ramp = LeaderClock(count: 1_000, jitter: setting.jitter, random: &random) {
        setting.tempo + 20 * Double(min(max($0 - 600, 0), 96)) / 96
    }
    result.rampPhase.append(
        worst(readings(ramp, of: method).filter { $0.number >= 600 }.map { $0.phase - delay }))
}

private func add(
    _ event: Event, _ readings: [Reading], _ delay: Double, _ setting: Setting, _ leader: LeaderClock,
    to result: inout Result
) {
    let after = readings.filter { $0.number >= Event.at }
    var cost = result.events[event] ?? EventResult()
    let isSwing = event == .swing || event == .hardSwing
    // A swung clock is compared with the even clock without swing.
    cost.tempo.append(worst(after.map(\.tempo)))
    cost.phase.append(worst(after.map { $0.phase - delay }))
    cost.recovery.append(settling(readings, after: isSwing ? 0 : Event.at, within: 0.25))
    // Methods that do not number ticks are judged by the number of arrivals.
    let isNumbered = readings.last?.window != nil
    let period = 2_500_000 / setting.tempo
    let off = isNumbered ? (after.last?.phase ?? 0) / period : Double(leader.arrivals.count - 1_000)
    cost.count.append(off.rounded())
    result.events[event] = cost
}
