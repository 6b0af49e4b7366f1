package import ALSASequencer
package import GatewayStatus
package import LinkSession
package import MIDIClock

/// Something that the user should know, for as long as it lasts.
///
/// The status, the panel and the terminal show all of them; the log tells some. What they say is in `NoticeText.swift`.
package enum Notice: Hashable, Sendable {
    // This machine.
    /// The last run ended abruptly while machines played; says when this one began, such as `21:04`.
    case restarted(String)
    /// There is no sequencer, although one was wanted.
    case noSequencer(ALSAError)
    /// The clock has no real-time scheduling; says what became of the request for it.
    case noRealTime(RealTimeRight.Request)
    /// Ticks do not go through a queue because there is no sequencer; nil if none was wanted.
    case noQueueWithoutSequencer(ALSAError?)
    case unusableQueue(QueueFailure)

    // Link.
    /// Link had a network, and has none now.
    case networkLost
    /// All peers have gone without a good-bye.
    case peersLost
    case unusableInterface(String)
    /// More addresses than Link can use; those that are left out.
    case leftOutAddresses([String])
    case unreachablePeer(Unreachable)
    /// More peers than there can be; the address of most of them.
    case crowd(String)
    /// A peer announces numbers that no program comes to by itself.
    case extremeNumbers(String)
    /// The session's clock may be off by so many microseconds that one can hear it.
    case vagueClock(Double)
    /// The session's tempo is outside what the user allows, in BPM.
    case tempoOutside(Double, TempoFence, outputsHold: Double)

    // Outputs.
    case outputAway(Subject, PortTrouble)
    case deviceLost(Subject, isMachine: Bool, Return)
    case deviceStuck(Subject)
    case outOfSync(Subject, isPlaying: Bool)
    /// One of several devices at an output.
    case someOutOfSync(Subject, isPlaying: Bool)
    /// So many messages were lost.
    case dropped(Subject, Int)
    case doubledClock(DoubledClock)
    case tooManyOutputs
    /// An output's overrides contradict its profile.
    case contradiction(Subject, String)
    case profileOfOutput(Subject, String)
    /// An output of time code shares its port with one of a clock, which is named.
    case timeCodeBesideClock(Subject, clock: String)

    // Incoming clocks.
    /// The clock to follow is absent.
    case clockAway(String, PortTrouble?)
    case lateStamps
    /// The leader hears its own clock back from a port.
    case leaderHearsUs(leader: String, address: String, output: String, port: String?)
    /// A clock that passes on what it receives, and receives ours.
    case echoes(String)
    case leaderTwice(String)
    /// A clock that is ours; says how that was seen.
    case loop(String, reason: String)
    case likelyLoop(String)

    // Controls, files and addresses.
    case controlAway(String, PortTrouble?)
    case controlRefused(String, CommandError)
    case stateNotKept(String)
    case stateUnreadable(String)
    case profileLeftOut(String)
    /// Anything else about profiles.
    case profiles(String)
    /// A section of the configuration that counts from the next start.
    case restartNeeded(String)
    /// The configuration is read from another place than at the start; nil for no file.
    case configurationMoved(from: String?, to: String?)
    case addressTaken(String, reason: String, setting: String)
    /// The panel or OSC cannot be reached, since this machine does not have the address now.
    case addressAway(String, address: String, setting: String)
    case shortToken(path: String, length: Int, shortest: Int)
    case readableToken(path: String)

    /// The output that a notice is about.
    package struct Subject: Hashable, Sendable {
        let id: String
        let name: String
    }

    /// What a lost device does when it is back.
    package enum Return: Hashable, Sendable {
        case atNextBar
        case withNextTick
        case withNextSong
    }
}

extension Output {
    /// What notices call it.
    var subject: Notice.Subject { Notice.Subject(id: id, name: name) }
}

extension Status.Warning {
    package init(_ notice: Notice) {
        let (message, fix) = notice.text
        self.init(code: notice.code, message: message, fix: fix, output: notice.subject?.id)
    }
}
