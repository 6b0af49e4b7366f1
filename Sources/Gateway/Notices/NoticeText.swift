internal import ALSASequencer
internal import ClockDispatch
internal import Essentials
internal import LinkNetwork
internal import LinkSession
internal import MIDIClock

extension Notice {
    /// A stable word for programs; docs/control.md lists them.
    package var code: String {
        switch self {
        case .restarted: "restarted"
        case .networkLost, .peersLost: "link-lost"
        case .noSequencer: "no-sequencer"
        case .noRealTime: "no-realtime"
        case .noQueueWithoutSequencer, .unusableQueue: "dispatch"
        case .unusableInterface, .leftOutAddresses: "link-interface"
        case .unreachablePeer: "link-unreachable"
        case .crowd: "link-strangers"
        case .extremeNumbers: "link-numbers"
        case .vagueClock: "link-clock"
        case .tempoOutside: "tempo-fence"
        case .outputAway, .deviceLost: "output-away"
        case .deviceStuck: "device-stuck"
        case .outOfSync, .someOutOfSync: "out-of-step"
        case .dropped: "dropped"
        case .doubledClock: "clock-twice"
        case .tooManyOutputs: "too-many-outputs"
        case .contradiction: "overrides"
        case .profileOfOutput, .profiles: "profile"
        case .timeCodeBesideClock: "time-code-beside-clock"
        case .clockAway: "clock-away"
        case .lateStamps: "clock-stamps"
        case .leaderHearsUs: "leader-hears-us"
        case .echoes: "echoes"
        case .leaderTwice: "leader-twice"
        case .loop: "loop"
        case .likelyLoop: "maybe-loop"
        case .controlAway: "control-away"
        case .controlRefused: "control-refused"
        case .stateNotKept: "state-not-kept"
        case .stateUnreadable: "state-unreadable"
        case .profileLeftOut: "profile-left-out"
        case .restartNeeded: "restart-needed"
        case .configurationMoved: "configuration-moved"
        case .addressTaken, .addressAway: "address-away"
        case .shortToken, .readableToken: "weak-token"
        }
    }

    /// The output it is about; nil if it is about none or several.
    var subject: Subject? {
        switch self {
        case .outputAway(let subject, _), .deviceLost(let subject, _, _), .deviceStuck(let subject),
            .outOfSync(let subject, _), .someOutOfSync(let subject, _), .dropped(let subject, _),
            .contradiction(let subject, _), .profileOfOutput(let subject, _), .timeCodeBesideClock(let subject, _):
            subject
        default: nil
        }
    }

    package var message: String { text.message }
    package var fix: String { text.fix }

    /// What is the matter, and what the user can do.
    var text: (message: String, fix: String) {
        switch self {
        case .restarted(let time):
            return (
                "Tactus started again at \(time). Resume at the next bar?",
                "'tactus play' resumes; 'tactus stop' does not"
            )
        case .noSequencer(let error):
            let what = error.isForbidden ? "this user may not use the ALSA sequencer" : "there is no ALSA sequencer"
            return ("\(what), so only raw outputs work (\(error))", "\(error.openingFix), then restart Tactus")
        case .noRealTime(let request): return request.text
        case .noQueueWithoutSequencer(let error):
            return (
                "\(Self.direct)there is no sequencer and so no queue",
                error.map { "\($0.openingFix), then restart Tactus" }
                    ?? "only sequencer ports have a queue; leave --dispatch out for raw outputs"
            )
        case .unusableQueue(let failure):
            return (
                "\(Self.direct)the sequencer's queue cannot be used; \(failure)", "'tactus doctor' tells what helps"
            )

        case .networkLost:
            return (
                "Link has lost the network: this computer has no address there any more, so the others do not hear it",
                "connect cable or Wi-Fi again; the clock goes on, and Tactus joins the others as soon as it hears them"
            )
        case .peersLost:
            return (
                "all Link peers have fallen silent without a good-bye: the network is down, or their programs have ended",
                "check cable, Wi-Fi and the other programs; to go on alone, 'tactus link off'"
            )
        case .unusableInterface(let failure):
            return (
                "Link cannot use a network interface: \(failure)",
                "Tactus tries again every few seconds; 'tactus doctor' says what keeps it, and --interface chooses the "
                    + "networks to use"
            )
        case .leftOutAddresses(let leftOut):
            let shown = leftOut.prefix(3).joined(separator: ", ")
            let rest = leftOut.count > 3 ? ", and \(leftOut.count - 3) more" : ""
            return (
                "Link uses at most \(LocalAddress.most) addresses of this machine, and leaves out \(shown)\(rest)",
                "name the networks that Link needs: start with --interface eth0, or set 'link: { interfaces: [eth0] }'"
            )
        case .unreachablePeer(let peer): return peer.text
        case .crowd(let address):
            return (
                "more Link peers are announced than can be real, most of them from \(address); Tactus forgets some of "
                    + "them to make room for real ones",
                "find the program or machine that does it and stop it, or leave its network out by --interface"
            )
        case .extremeNumbers(let address):
            return (
                "a Link peer at \(address) announces beats or times that no program comes to by itself; tempo, beat, "
                    + "play or stop of the session may not change any more",
                "end all Link programs of the session at once, and find the program or machine that does it, or leave "
                    + "its network out by --interface"
            )
        case .vagueClock(let error):
            return (
                "messages to Link peers take so long that the beat is known to \(shortest(error / 1_000, atMost: 2)) ms "
                    + "only",
                "connect by cable, or go nearer to the access point"
            )
        case .tempoOutside(let tempo, let fence, let held):
            let outputs =
                fence.outside == .fold
                ? "outputs halve or double it" : "outputs hold \(shortest(held, atMost: 2)) BPM"
            let bounds = [fence.lowest, fence.highest].map { shortest(Double($0) / 1_000, atMost: 2) }
            return (
                "the session plays at \(shortest(tempo, atMost: 2)) BPM, which is not within "
                    + "\(bounds.joined(separator: " to ")); \(outputs)",
                "bring the session's tempo back inside, or widen --session-tempo"
            )

        case .outputAway(let output, let trouble):
            return ("output \(output.name) is away: \(trouble.reason)", trouble.fix)
        case .deviceLost(let output, let isMachine, let back):
            let promise =
                switch back {
                case .atNextBar: "It rejoins at the next bar when it is back."
                case .withNextTick: "It hears the clock again when it is back."
                case .withNextSong: "It plays with the next song when it is back."
                }
            return (
                "\(output.name) \(isMachine ? "was unplugged" : "has gone"). \(promise)",
                isMachine ? "plug it in again, and switch it on" : "start it again"
            )
        case .deviceStuck(let output):
            return (
                "the device at output \(output.name) is connected but no longer accepts messages",
                "switch it off and on, or plug it in again; it then rejoins the song by itself"
            )
        case .outOfSync(let output, let isPlaying):
            return (
                "\(output.name) has not received all messages, so it may \(Self.consequence(isPlaying))",
                "check that the device or program behind it accepts MIDI; Tactus then stops it"
                    + (isPlaying ? ", and it rejoins at the next bar" : "")
            )
        case .someOutOfSync(let output, let isPlaying):
            return (
                "a device or program connected to \(output.name) has not received all messages, so it may "
                    + Self.consequence(isPlaying),
                isPlaying
                    ? "check that it accepts MIDI, then 'tactus realign \(output.id)' realigns all of them"
                    : "check that it accepts MIDI; Tactus then sends Stop to all of them"
            )
        case .dropped(let output, let count):
            return (
                count == 1
                    ? "a message to output \(output.name) was lost"
                    : "\(count) messages to output \(output.name) were lost",
                "check that the device or program behind it accepts MIDI, and that a serial line has the right speed"
            )
        case .doubledClock(let clock):
            let sources = clock.outputs + [clock.otherRun?.description].compactMap(\.self)
            return (
                "\(clock.device) hears the clock twice, from \(sources.joined(separator: " and ")), and runs too fast",
                clock.otherRun?.fix ?? "'aconnect -d \(clock.sender) \(clock.receiver)'"
            )
        case .tooManyOutputs:
            return (
                "there are more devices than outputs; \(OutputBoard.capacity) outputs is the most",
                "connect the others to the port Clock"
            )
        case .contradiction(let output, let mistakes):
            return (
                "the configuration of \(output.name) contradicts its profile, which applies: \(mistakes)",
                "correct the configuration, then 'tactus reload'"
            )
        case .profileOfOutput(let output, let warning):
            return (
                "\(output.name): \(warning)",
                "to avoid it, copy the profile to ~/.config/tactus/profiles and change it there"
            )
        case .timeCodeBesideClock(let output, let clock):
            return (
                "\(output.name) and \(clock) share a port; on a DIN cable each piece of time code takes 0.6 ms, a whole "
                    + "time 3.2 ms, and delays the clock by that",
                "give time code a port of its own, unless this one leads to no DIN cable"
            )

        case .clockAway(let name, let trouble):
            return (
                "the clock to follow, \(name), is away\(trouble.map { ": \($0.reason)" } ?? "")",
                trouble?.fix ?? PortTrouble.fixOfAbsence
            )
        case .lateStamps:
            return (
                "incoming clocks are stamped late, when they are read, so following is less exact",
                "close programs that use sequencer queues; a raw device needs Linux 5.14 or newer"
            )
        case .leaderHearsUs(let leader, let address, let output, let port):
            return (
                "\(leader) leads and hears its own clock back on \(output)",
                "disconnect it: 'aconnect -d \(port ?? "Tactus:0") \(address)'"
            )
        case .echoes(let name):
            return (
                "\(name) passes on what it receives, and receives this gateway's clock, so it is not followed",
                "to follow it, remove its output; or follow another machine"
            )
        case .leaderTwice(let name):
            return (
                "\(name)'s clock arrives twice; each second tick is left out",
                "remove one of the two cables or connections through which it comes"
            )
        case .loop(let name, let reason):
            return (
                "\(name) is not followed: \(reason)",
                "disconnect it from Clock In, or stop it from passing on what it receives"
            )
        case .likelyLoop(let name):
            return (
                "\(name) may be this gateway's own clock coming back; Tactus is testing it",
                "if it is a loop, disconnect one of its cables; otherwise wait up to 32 beats"
            )

        case .controlAway(let name, let trouble):
            return (
                "the control port \(name) is away\(trouble.map { ": \($0.reason)" } ?? "")",
                trouble?.fix ?? PortTrouble.fixOfAbsence
            )
        case .controlRefused(let verb, let error):
            return ("a control's \(verb) was refused: \(error.problem)", error.advice ?? "try again")
        case .stateNotKept(let trouble):
            return (
                "switches and tempo cannot be saved for the next run: \(trouble)",
                "check that the disk can be written and is not full, or choose a folder with --state"
            )
        case .stateUnreadable(let trouble):
            return (
                "the state of the last run cannot be read: \(trouble)",
                "set switches and tempo as you want them; they are saved from now on"
            )
        case .profileLeftOut(let mistake): return ("profile left out: \(mistake)", Self.fixOfProfiles)
        case .profiles(let warning): return (warning, Self.fixOfProfiles)
        case .restartNeeded(let section):
            return (
                "'\(section)' has changed, which takes effect after a restart", "end 'tactus run' and start it again"
            )
        case .configurationMoved(let old, let new):
            let read = new.map { "the configuration is now read from \($0)" } ?? "there is no configuration any more"
            return (
                read + (old.map { ", at the start it was read from \($0)" } ?? "; there was none at the start"),
                old.map { "if that is not meant, put \($0) back, then 'tactus reload'" }
                    ?? "nothing to do if you have just made that file"
            )
        case .addressTaken(let name, let reason, let setting):
            return (
                "\(name) cannot be reached: \(reason)",
                "end that program, and Tactus takes the address; or change \(setting)"
            )
        case .addressAway(let name, let address, let setting):
            return (
                "\(name) cannot be reached, because this machine does not have the address \(address) now",
                "connect its network, and Tactus uses it at once; or change \(setting), where 0.0.0.0 means all "
                    + "addresses"
            )
        case .shortToken(let path, let length, let shortest):
            return (
                "the token in \(path) can be guessed: it has \(length) characters, fewer than \(shortest)",
                "'head -c 12 /dev/urandom | base64 > \(path)', then start 'tactus run' again"
            )
        case .readableToken(let path):
            return (
                "every user of this machine can read the token in \(path)",
                "'chmod 640 \(path)', 'chgrp audio \(path)' (or another group that Tactus is in), then 'tactus reload'"
            )
        }
    }

    private static let direct = "ticks leave by direct dispatch and may be late under load: "
    private static let fixOfProfiles =
        "correct it, then 'tactus reload'; 'tactus profiles check FILE' lists all mistakes in a file"

    /// What a device may do that has missed messages.
    private static func consequence(_ isPlaying: Bool) -> String {
        isPlaying ? "play at the wrong place, or stand still" : "still be playing"
    }
}

extension Unreachable {
    fileprivate var text: (message: String, fix: String) {
        switch direction {
        case .theyDoNotAnswer:
            (
                "a Link peer at \(address) is heard but does not answer, so Tactus cannot play in time with it",
                "turn off client isolation in the access point, and let the firewalls of both computers pass UDP from "
                    + "the local network to all ports; 'tactus doctor' tries it"
            )
        case .theyDoNotJoin:
            (
                "a Link peer at \(address) does not join this session, as if it got no answer from here",
                "let this computer's firewall pass UDP from the local network to all ports, not only to 20808"
            )
        }
    }
}

extension RealTimeRight.Request {
    fileprivate var text: (message: String, fix: String) {
        let result = ", so ticks may be late under load"
        let byLimits = "'tactus doctor' tells the command that allows it on this machine"
        return switch self {
        case .none, .waiting: ("real-time scheduling was refused\(result)", byLimits)
        case .answered(.refused(let reason)):
            ("real-time scheduling was refused\(result): the limits do not allow it, and \(reason)", byLimits)
        case .answered(.overrun):
            (
                "the clock ran for too long without a pause and lost the real-time scheduling that rtkit had granted"
                    + result,
                "restart Tactus; with priority by limits this cannot happen, and \(byLimits)"
            )
        case .answered(.granted):
            (
                "rtkit took the real-time scheduling back\(result)",
                "find the program that keeps all processors busy and end it; restart Tactus after five minutes"
            )
        }
    }
}
