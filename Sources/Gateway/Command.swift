package import BeatTime
package import MIDIClock

/// A command from outside: terminal, HTTP, a foot switch.
package enum Command: Hashable, Sendable {
    case enableLink(Bool)
    case enableStartStopSync(Bool)
    /// Link off if it is on, and on if it is off.
    case toggleLink
    /// Play or stop, quantised.
    case setPlaying(Bool)
    /// Stop what plays, play what is stopped.
    case togglePlaying
    /// Tempo in BPM, 20...999. The caller must reject other values.
    case setTempo(Tempo)
    /// A tap in the wanted tempo, and when it fell, on any clock; nil is now.
    case tap(at: HostTime?)
    /// Whose clock to follow when Link is off.
    case follow(FollowChoice)
    /// Shared quantum, 0 to 64 beats.
    case setQuantum(Beats)
    /// Changes an output's settings while it runs; without a name those of all.
    case adjust(output: String?, OutputAdjustment)
    /// Has an output that plays stop and enter again; without a name all.
    case realign(output: String?, Realignment)
    /// Applies a new configuration; unchanged parts keep running.
    case configure(LiveConfiguration)
}

/// Why a command is not carried out.
package enum CommandError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The leader's role excludes it; names the leader.
    case notLeader(String)
    /// A name means nothing that there is, or several things.
    case unclearName(UnclearName)
    /// It would take something out of its range; says what, and what is possible.
    case outOfRange(String, possible: String)
    /// The device of the output with that name is not there, so it cannot be realigned; nil if no device is.
    case notConnected(String?)
    /// The song is stopped, or the output is, so nothing can be realigned.
    case notPlaying(String?)
    /// The device of the output with that name cannot be placed in a song.
    case notPlaceable(String)
    /// Configuration or profiles are wrong; every mistake with its place.
    case badConfiguration([String])
    /// Too many commands are waiting.
    case busy

    /// What is wrong, and what would be right where that is known; a line for each mistake.
    package var description: String { problem + (advice.map { "; \($0)" } ?? "") }

    /// What can be done about it, where ``problem`` does not say so.
    var advice: String? {
        switch self {
        case .notLeader: "'tactus link on' or 'tactus follow off' first"
        case .outOfRange(_, let possible): possible
        case .unclearName, .notConnected, .notPlaying, .notPlaceable, .badConfiguration, .busy: nil
        }
    }

    /// What is wrong; a line for each mistake.
    var problem: String {
        switch self {
        case .notLeader(let leader): "\(leader) leads"
        case .unclearName(let error): error.description
        case .outOfRange(let problem, _): problem
        case .notConnected(let output): output.map { "\($0) is not connected" } ?? "nothing is connected"
        case .notPlaying(let output): output.map { "\($0) is not playing" } ?? "nothing is playing"
        case .notPlaceable(let output): "\(output) cannot be told its place in the song, by its profile"
        case .badConfiguration(let mistakes): mistakes.joined(separator: "\n")
        case .busy: "too many commands are waiting"
        }
    }
}
