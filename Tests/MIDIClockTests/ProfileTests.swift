import BeatTime
import MIDIClock
import Simulation
import Testing

/// With any profile and any events, a device gets only allowed messages, in order, and ends where the song is.
@Suite
struct ProfileTests {
    @Test(arguments: Seeds.standing(1...24))
    func `any profile under any edits, tempos, steps and stalls leaves its device where the song is`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var device = DeviceUnderClock(now: 1)
        var score = stopped(line(beatsPerMinute: Double.random(in: 20...999, using: &random)))
        score.plan.settings = .randomProfile(using: &random)
        score.plan.transport.ticksPerBar = [24, 72, 96, 168].randomElement(using: &random) ?? 96
        for _ in 0..<50 {
            device.runHeldUp(score, for: Int64.random(in: 1...900_000, using: &random), using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0: score.plan.settings.multiply = [1, 2, 4].randomElement(using: &random) ?? 1
            case 1: score.plan.settings.divide = [1, 2, 3, 4, 6, 8].randomElement(using: &random) ?? 1
            case 2 where score.plan.settings.tempos != .all: score.plan.settings.tempos = .random(using: &random)
            case 3: device.planner.realign(Bool.random(using: &random) ? .atBar : .now)
            default: score.disturb(at: device.now, using: &random)
            }
        }
        #expect(device.messagesOutOfOrder(score.plan.settings).isEmpty, "seed \(seed)")
        score.plan.transport.isPlaying = true
        let start = score.map.time(ofTick: score.plan.transport.startTick).microseconds
        device.run(score, until: max(device.now, start + max(0, score.plan.settings.offset)) + score.settlingTime)
        guard score.plan.settings.isPlaceable else { return }
        // A device that stays where it is, as its profile allows, is right after a requested realignment.
        if !score.plan.settings.mayStep || score.plan.settings.realign == .none { device.planner.realign(.atBar) }
        device.run(score, until: device.now + score.settlingTime + 20_000_000)
        #expect(device.misplacementByEar(in: score) == nil, "seed \(seed): \(score.plan.settings)")
        let range = score.plan.settings.tempos
        guard range != .all else { return }
        let heard = score.unfoldedTempo * pow2(device.heardFold(of: score)) * 1_000
        #expect((Double(range.lowest) * 0.98...Double(range.highest) * 1.02).contains(heard), "seed \(seed)")
    }

    @Test(arguments: Seeds.standing(1...40))
    func `a profile replaced at any time never lets a message through that the new one forbids`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var planner = TickPlanner()
        var now = HostTime(microseconds: 1)
        var score = playing(line(beatsPerMinute: 120), from: 24)
        var lastTick = Int64.min / 2
        for _ in 0..<200 {
            score.plan.settings = .randomProfile(using: &random)
            if Int.random(in: 0..<3, using: &random) == 0 { score.disturb(at: now.microseconds, using: &random) }
            let end = now.advanced(byMicroseconds: Int64.random(in: 1...700_000, using: &random))
            while let planned = planner.next(score.plan, on: score.map, at: now), planned.due < end {
                now = max(now, planned.due)
                planner.sent(planned, at: now)
                #expect(!DrumMachine.isBarred(planned.message, by: score.plan.settings), "seed \(seed)")
                guard planned.message == .timingClock else { continue }
                #expect(now.microseconds - lastTick >= 700, "seed \(seed)")
                lastTick = now.microseconds
            }
            now = max(now, end)
        }
    }

    @Test
    func `planners and their inputs are trivially copyable`() {
        #expect(isPlain(TickPlanner.self) && isPlain(OutputPlan.self) && isPlain(PlannedMessage.self))
        #expect(isPlain(TempoMap.self))
        #expect(MemoryLayout<TickPlanner>.size <= 512)
    }

    private func isPlain<Value: BitwiseCopyable>(_: Value.Type) -> Bool { _isPOD(Value.self) }
}

extension DeviceUnderClock {
    /// Runs for a while on a machine that is sometimes held up.
    mutating func runHeldUp(_ score: Score, for duration: Int64, using random: inout SeededGenerator) {
        let (end, longest): (Int64, Int64) = (now + duration, [1_500, 60_000].randomElement(using: &random) ?? 0)
        while now < end {
            run(score, until: min(end, now + Int64.random(in: 100...20_000, using: &random)))
            if Int.random(in: 0..<10, using: &random) == 0 { now += Int64.random(in: 0...longest, using: &random) }
        }
    }

    /// Each Start and Continue followed too closely by a tick, or by a wrong message.
    func messagesOutOfOrder(_ settings: OutputSettings) -> [DrumMachine.Event] {
        let least: Int64 = settings.lead < 350 ? 0 : 350
        return zip(events, events.dropFirst()).filter { message, next in
            guard message.message.isMoving else { return false }
            if next.message == .timingClock { return next.at - message.at < least }
            // Taken back, and perhaps sent again.
            return next.message != .stop && next.message != message.message
        }.map(\.0)
    }
}

extension OutputSettings {
    /// A random profile using all keys.
    static func randomProfile(using random: inout SeededGenerator) -> OutputSettings {
        var settings = OutputSettings.random(using: &random)
        settings.start = [.start, .start, .continue, .none].randomElement(using: &random) ?? .start
        settings.realign = [.songPosition, .restart, .none].randomElement(using: &random) ?? .none
        settings.sendsStop = Int.random(in: 0..<4, using: &random) > 0
        settings.takesContinue = Int.random(in: 0..<4, using: &random) > 0
        settings.takesSongPosition = Int.random(in: 0..<4, using: &random) > 0
        settings.mayStep = Int.random(in: 0..<4, using: &random) > 0
        if Bool.random(using: &random) { settings.tempos = .random(using: &random) }
        return settings
    }

    /// Whether the device's place can be known.
    var isPlaceable: Bool {
        switch start {
        case .none: false
        case .start: true
        case .continue: !takesContinue || takesSongPosition && sendsStop
        }
    }
}

extension TempoRange {
    static func random(using random: inout SeededGenerator) -> TempoRange {
        let lowest = Int64.random(in: 20_000...300_000, using: &random)
        let highest = lowest * Int64.random(in: 200...900, using: &random) / 100
        return TempoRange(lowest: lowest, highest: highest) ?? .all
    }
}
