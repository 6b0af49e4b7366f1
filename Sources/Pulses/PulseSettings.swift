internal import MIDIClock

/// What a stream of pulses consists of: lines that belong to one machine.
package struct PulseSettings: Hashable, Sendable {
    package var lines: [PulseLine]
    /// How long before the first beat of a song the lines say that it starts, in microseconds: 0 to 10 000.
    ///
    /// No clock pulse comes in between, so the first pulse after it is the first beat. At 0 they come together.
    package var lead: Int64

    package init(_ lines: [PulseLine], lead: Int64 = 0) { (self.lines, self.lead) = (lines, lead) }

    /// Whether a line says when the song plays; if not, its machine knows only the clock.
    package var hasTransport: Bool {
        lines.contains { !$0.isClock }
    }

    /// How many lines are clicks for people; such lines are not combined with others.
    package var clickCount: Int {
        lines.count { line in if case .click = line.signal { true } else { false } }
    }

    /// These lines on so many channels of a card, of which a single line has any number; nil if they do not fit.
    package func onChannels(_ count: Int) -> PulseSettings? {
        guard Self.fits(lines, on: count) else { return nil }
        return lines.count == count ? self : PulseSettings(Array(repeating: lines[0], count: count), lead: lead)
    }

    /// Whether lines can be played on so many channels.
    package static func fits(_ lines: [PulseLine], on count: Int) -> Bool { lines.count == count || lines.count == 1 }

    /// How many pulses are planned for a beat, of which a clock takes one of so many.
    var pulsesPerBeat: Int64 {
        lines.contains { line in line.pulsesPerBeat.map { 24 % $0 != 0 } ?? false } ? 48 : 24
    }

    /// The shortest time from a start to the first beat, and that a line has to be off before a start, in microseconds.
    var leastLead: Int64 { lead * 9 / 10 }

    /// What the planner is to do for these lines: pulses are its ticks, a start is its Start.
    ///
    /// A machine that is led by lines can be sent to the beginning of a song only: Start again, at a bar.
    func driving(_ settings: OutputSettings) -> OutputSettings {
        var settings = settings
        if pulsesPerBeat == 48 {
            if settings.divide % 2 == 0 { settings.divide /= 2 } else { settings.multiply *= 2 }
        }
        // A click is silent between songs, but not while one is counted in.
        if clickCount > 0 { settings.isClockAlwaysOn = true }
        settings.start = hasTransport ? .start : .none
        settings.realign = hasTransport ? .restart : .none
        (settings.sendsStop, settings.takesContinue, settings.takesSongPosition) = (true, false, false)
        settings.lead = lead
        settings.keepsLeadClear = true
        settings.locate = stopTime
        return settings
    }

    /// How long a machine that is started anew is stopped before, in microseconds; a pulse for the stop has ended then.
    ///
    /// Machines with DIN sync must see `run` off for 9 ms (E-RM report on implementing DIN sync).
    private var stopTime: Int64 {
        lines.reduce(10_000) { time, line in
            if case .trigger(_, let width) = line.signal { max(time, 2 * width) } else { time }
        }
    }
}
