package import BeatTime
package import MIDIClock

/// A command from outside: terminal, HTTP, a foot switch.
package enum Command: Hashable, Sendable {
    case enableLink(Bool)
    case enableStartStopSync(Bool)
    /// Toggles Link.
    case toggleLink
    /// Plays from the next quantum boundary, or alone from the next tick; or stops at once.
    case setPlaying(Bool)
    /// Toggles playing.
    case togglePlaying
    /// Sets the tempo in BPM, 20...999. The caller must reject other values.
    case setTempo(Tempo)
    /// Adds to the tempo, in BPM; several such commands add up, whoever sends them.
    case stepTempo(by: Double)
    /// Multiplies the tempo, such as by 2 or 0.5.
    case scaleTempo(by: Double)
    /// One of several taps in the wanted tempo, at a time on any clock; nil is now.
    case tap(at: HostTime?)
    /// Sets whose clock to follow when Link is off; the same choice again gives play and stop back to the user.
    case follow(FollowChoice)
    /// Sets the shared quantum, 0 to 64 beats.
    case setQuantum(Beats)
    /// Changes settings of a running output, or of all if there is no name.
    case adjust(output: String?, OutputAdjustment)
    /// Stops a playing output's device and lets it enter again; without a name, all devices.
    case realign(output: String?, Realignment)
    /// Stops an output's device at the next bar while its clock goes on, or lets it enter; without a name, all devices.
    case mute(output: String?, Muting)
    /// Holds an output's device off the tempo, or lets it go back to its place; without a name, all devices.
    ///
    /// - `percent`: how much faster, -8 to 8; 0 lets go.
    /// - `microseconds`: for how long, unless it comes again.
    /// - `holder`: who does so; it goes back once nobody holds it.
    case bend(output: String?, percent: Double, for: Int64, by: BendHolder = .command)
    /// Plays, with the song beginning so many bars later; the clock runs meanwhile.
    case countIn(bars: Int)
    /// Applies a new configuration; unchanged parts keep running.
    case configure(LiveConfiguration)
    /// Takes the last change back: of tempo, quantum, switches, play and stop, the clock to follow, or outputs.
    ///
    /// Again redoes it.
    case undo

    /// For how long a bend lasts without another sign of whoever holds it, in microseconds.
    package static let bendTime: Int64 = 1_000_000
}
