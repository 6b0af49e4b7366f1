import BeatTime
import MIDIClock
import Simulation

// Checks that need only the session's beats and the device's display, and nothing of planners.
extension DeviceUnderClock {
    /// The tempo that the device gets, in BPM, over its last ticks.
    func heardTempo(ticks count: Int = 4) -> Double {
        let last = ticks.suffix(count + 1)
        guard last.count == count + 1, let first = last.first, let end = last.last else { return 0 }
        return 60e6 / 24 * Double(count) / Double(end - first)
    }

    /// The power of two between the unfolded tempo and what the device gets.
    func heardFold(of score: Score) -> Int {
        let (settings, beat) = (score.plan.settings, score.map.line.microsecondsPerBeat)
        // Swung ticks are even only over whole beats.
        let (start, beats) = (now - 2 * settings.divide * beat, Double(2 * settings.divide))
        let swung = Double(ticks.reversed().prefix { $0 > start }.count) / 24 / beats * 60e6 / Double(beat)
        let ratio = (settings.swing == 500 ? heardTempo() : swung) / score.unfoldedTempo
        return (-20...20).min { abs(ratio - pow2($0)) / pow2($0) < abs(ratio - pow2($1)) / pow2($1) } ?? 0
    }

    /// What is wrong with the place that the device shows; nil if nothing is.
    ///
    /// A device that can be placed is where the song is, in its own beats. Any other that was started began with a bar
    /// of the session.
    func misplacementByEar(in score: Score) -> String? {
        guard isPlaying else { return "it stands still" }
        let (transport, settings) = (score.plan.transport, score.plan.settings)
        let nominal = HostTime(microseconds: now - settings.offset)
        let ticks = score.map.line.position(at: nominal) - Double(transport.startTick)
        let perTick = Double(settings.multiply) / Double(settings.divide) * pow2(heardFold(of: score))
        let bar = Double(transport.ticksPerBar)
        // The next tick has the number shown; swing and corrections may move it slightly.
        let slack = 1 + (settings.swing == 500 ? 0.6 : 6 * perTick)
        if settings.isLocatable {
            let error = (Double(songPosition) - 0.5 - ticks * perTick).remainder(dividingBy: bar)
            return abs(error) <= slack ? nil : "\(error) ticks of its own away from the song"
        }
        let error = ((Double(songPosition) - 0.5) / perTick - ticks).remainder(dividingBy: bar)
        return abs(error) * perTick <= slack + 1 ? nil : "\(error) ticks away from where a bar began"
    }
}

extension Score {
    /// The tempo that the device would get without folding, in BPM.
    var unfoldedTempo: Double {
        let settings = plan.settings
        return 60e6 / Double(map.line.microsecondsPerBeat) * Double(settings.multiply) / Double(settings.divide)
    }

    /// Longest time for a device to find its place, in microseconds: two bars, and a few of its own beats.
    var settlingTime: Int64 {
        let ticks = 2 * plan.transport.ticksPerBar + 60 * plan.settings.divide
        return map.line.microsecondsPerBeat / 24 * ticks + 2_000_000
    }
}

extension OutputSettings {
    /// Whether the device can be sent its place in a playing song.
    var isLocatable: Bool {
        start != .none && sendsStop && takesContinue && takesSongPosition && realign != .restart
    }
}

/// Two to a power.
func pow2(_ exponent: Int) -> Double { Double(sign: .plus, exponent: exponent, significand: 1) }
