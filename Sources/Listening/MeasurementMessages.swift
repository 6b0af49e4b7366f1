internal import Essentials
package import SoundCalibration

/// Whether a delay is early or late, as a word.
package func side(ofDelay microseconds: Double) -> String { microseconds < 0 ? "early" : "late" }

extension MeasurementFailure {
    /// One line that says why there is no result, and what to do.
    ///
    /// - Parameters:
    ///   - name: of the machine that was measured.
    ///   - channel: the channel with the machine's sound.
    ///   - against: the channel that it is compared with; nil without one.
    /// - Returns: the line.
    package func message(for name: String, channel: Int, against: Int?) -> String {
        func amount(_ microseconds: Double) -> String { spokenDuration(abs(microseconds)) }
        switch self {
        case .noHits(let heard, let beats, let decibels):
            let level = decibels.map { "the loudest sample is at \(fixed($0, 0)) dB" } ?? "there is only silence"
            return
                "\(heard) sounds on \(beats) beats are heard on channel \(channel), and \(level); check that the "
                + "machine plays, that this is the right channel, and that it is loud enough"
        case .clipping:
            return
                "most hits clip on channel \(channel); turn the machine or the input down until the level stays below "
                + "-6 dB"
        case .several(let perBeat):
            return "\(fixed(perBeat, 1)) sounds are heard for each beat; have \(name) play one sound on each beat and "
                + "nothing else, without echo"
        case .uneven(let matched, let beats):
            return
                "sounds are heard, but only \(matched) of \(beats) beats have one at the same place; have \(name) play "
                + "one sound on every beat, and check that it follows the clock"
        case .fellSilent(let last, let beats):
            return
                "no sound came on channel \(channel) after beat \(last) of \(beats); have \(name) play a pattern that "
                + "repeats, and let it play until the result is there"
        case .wrongBeat(let microseconds, let interval):
            let slower = fixed(max(20, (60e6 / (10 * abs(microseconds))).rounded(.down)), 0)
            return
                "the sound comes \(amount(microseconds)) \(side(ofDelay: microseconds)), and beats are "
                + "\(amount(interval)) apart: it may be on another sixteenth than the beat; program it on the beat, "
                + "or, if \(name) really is so far off, measure at \(slower) BPM"
        case .wholeBeat:
            return
                "\(name) seems to follow its clock a whole beat late or early, so it is not clear which beat a sound "
                + "belongs to; switch off any smoothing of the clock in the machine, or measure at half the tempo"
        case .drift(let perMinute):
            return
                "\(name) moves away from the beat, by \(amount(perMinute)) a minute: it plays by a clock of its own; "
                + "set it to follow MIDI clock"
        case .doesNotFollow(let response):
            return
                "the clock was moved, and the sound moved by \(fixed(100 * response, 0)) % of that: what is heard does "
                + "not follow \(name)'s clock; check that it is the right machine, and set it to MIDI clock"
        case .clockUnmoved:
            return
                "the clock of \(name) did not move when it was told to; check that nothing else sets its offset, and "
                + "try again"
        case .tempoChanged: return "the tempo changed during the measurement; leave it alone, and try again"
        case .scattered(let spread):
            return
                "\(name) varies by \(amount(spread)) from hit to hit, too much to tell whether it follows its clock; "
                + "try a shorter, drier, louder sound, or a slower tempo"
        case .noReference(let matched, let beats):
            return "only \(matched) of \(beats) beats have a sound on the second channel, \(against ?? 0); "
                + "have one play on every beat there, too, or connect a MIDI cable"
        case .strangeReference:
            return
                "\(name) keeps to its clock, but what plays on channel \(against ?? 0) keeps to another beat; have a "
                + "machine play there that follows this gateway, too, with one sound on every beat"
        case .noStart:
            return
                "no Start was heard on the MIDI cable at channel \(against ?? 0), so it is not clear which tick is a "
                + "beat; check that the cable gets all that \(name) gets, and try again"
        case .unclearReference(let response):
            return
                "when the clock was moved, channel \(against ?? 0) moved by \(fixed(100 * response, 0)) % of that, so "
                + "it is neither another machine (0 %) nor the clock of \(name) itself (100 %); have one sound play there "
                + "on every beat, or connect a MIDI cable"
        case .sameClock:
            return
                "channel \(against ?? 0) follows the clock of \(name), too, so one offset moves both; have a machine on "
                + "another output play there, or connect a MIDI cable (docs/calibrating.md)"
        case .interrupted: return "the clock of \(name) was stopped or restarted during the measurement; try again"
        case .lost: return "this machine was too busy and lost sound or ticks; close other programs, and try again"
        case .noStamps:
            return "the sound card's driver does not say when its samples were taken; try the card itself, such as hw:1"
        }
    }
}
