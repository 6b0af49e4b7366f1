internal import ALSASequencer
package import CardOutput
internal import Essentials
internal import Glibc
internal import RealTime

/// Why a port, device or line cannot be used, and what helps.
package struct PortTrouble: Hashable, Sendable {
    /// A clause for the message.
    let reason: String
    /// What the user can do.
    let fix: String

    /// Both, as one line.
    package var description: String { "\(reason); \(fix)" }

    /// What helps if all that is known is that a port is absent: it is unplugged, not started, or named wrongly.
    static let fixOfAbsence = "plug it in or start it, or correct its name; 'tactus ports' lists what is there"

    /// The user named a port of this gateway as one to receive from.
    static let ownPort = PortTrouble(
        reason: "that is a port of this gateway itself", fix: "name another port; 'tactus ports' lists them")

    /// The sequencer is not open, although a port is wanted.
    static let noSequencer = PortTrouble(
        reason: "there is no ALSA sequencer", fix: "'tactus doctor' tells how to get it; then restart Tactus")

    /// A control needs the sequencer, which is only opened at the start.
    static let sequencerNotOpened = PortTrouble(
        reason: "the sequencer was not there, or not needed, at the start", fix: "end 'tactus run' and start it again")

    /// An output's line was open, and writing to it failed.
    static let brokenLine = PortTrouble(
        reason: "it no longer accepts data", fix: "plug the device in again, or start the program that reads it")
}

extension PortTrouble {
    /// Several ports have the name that the user wrote.
    init(_ error: UnclearName) {
        self.init(reason: error.description, fix: "put one of these names in the configuration or the command")
    }

    /// The kernel refused a subscription; nil if the port is just gone.
    init?(subscribing error: ALSAError) {
        guard !error.isGone else { return nil }
        self =
            error.isTaken
            ? .taken
            : PortTrouble(
                reason: error.description, fix: "plug it in again, or restart its program; Tactus then tries again")
    }

    /// Another program has exclusive use of the device.
    private static let taken = PortTrouble(
        reason: "another program has it to itself", fix: "close that program; Tactus connects within a few seconds")

    /// Another run of this program drives the device.
    init(_ other: OtherRun) {
        self.init(reason: "\(other) sends to it", fix: other.fix)
    }

    /// Our own port could not be created.
    init(opening error: ALSAError) {
        self.init(reason: error.description, fix: "\(error.openingFix), then restart Tactus")
    }

    /// A raw device could not be opened for reading, or has failed.
    init(reading error: ALSAError) {
        if error.isTaken {
            self = .taken
        } else if error.isGone {
            self.init(
                reason: error.description, fix: "plug it in, or correct its name; 'amidi -l' lists raw devices")
        } else {
            self.init(
                reason: error.description,
                fix: error.code == -EACCES ? error.openingFix : "unplug it and plug it in again")
        }
    }

    /// An output's sound card could not be opened, has failed, or is another program's.
    ///
    /// - Parameters:
    ///   - card: its name.
    ///   - channels: those of the output.
    ///   - count: how many the card must have for all outputs on it.
    ///   - failure: what has failed, or who has it.
    package init(playingOn card: String, channels: [Int], of count: Int, _ failure: CardFailure) {
        // The user is to choose that: the server may play on loudspeakers.
        let detour = Destination.card("default", channels: channels).name
        let server = card.hasPrefix("hw:") ? ", or, if the sound server plays on this card, use audio:\(detour)" : ""
        switch failure {
        case .held(let holder):
            self.init(reason: holder.reason, fix: "close that program\(server)")
        case .error(let error):
            let fix =
                switch error.code {
                case -EBUSY, -EAGAIN:
                    "close the program that plays on it, or choose 'off' for the card in the sound server's settings"
                        + server
                case -EACCES, -EPERM: "join the group audio and log in again"
                case -EINVAL: Self.channelFix
                default: "plug it in, or correct its name; 'tactus ports --cards' lists sound cards"
                }
            let reason =
                switch error.code {
                case -EBUSY, -EAGAIN: "another program plays on the sound card"
                case -EINVAL: "the sound card cannot play on \(count) channels at 44.1 to 192 kHz"
                case -ENODEV, -ENOENT, -ENXIO: "the sound card is not there"
                default: "\(error)"
                }
            self.init(reason: reason, fix: fix)
        }
    }

    private static let channelFix = "choose channels that it has; 'tactus ports --cards' lists them"

    /// A sound card that plays has fewer channels.
    static func lacking(_ channel: Int, of count: Int) -> PortTrouble {
        PortTrouble(
            reason: "the sound card has no channel \(channel); it has \(count == 1 ? "one" : "\(count)")",
            fix: Self.channelFix)
    }

    /// Another output plays on a channel of this one already, by another name of the card.
    static func takenChannel(_ channel: Int, by output: String) -> PortTrouble {
        PortTrouble(
            reason: "output '\(output)' has channel \(channel) of this sound card already",
            fix: "choose channels that no other output has")
    }

    /// An output's line could not be opened.
    init(opening error: RawLine.OpenError, path: String) {
        self.init(reason: error.description, fix: Self.fix(of: error, path))
    }

    private static func fix(of error: RawLine.OpenError, _ path: String) -> String {
        let code: Int32
        switch error {
        case .notALine: return "name a device node, FIFO or serial line after raw:"
        case .locked(let holder?) where holder.process == getpid(): return "name that device once"
        case .locked(let holder?): return "leave one of the two out, or end that program: 'kill \(holder.process)'"
        case .locked(nil): code = EBUSY
        case .system(let error): code = error.code
        }
        return switch code {
        case ENOENT, ENOTDIR: "plug the device in, or correct the path after raw:"
        case ENODEV: "plug the device in"
        case ENXIO: "plug the device in, or start the program that reads it"
        case EACCES, EPERM: "'ls -lL \(path)' shows the group that may use it; join that group and log in again"
        case EBUSY: taken.fix
        case EINVAL: "give a speed that the line supports, as in raw:\(path)@31250"
        default: "unplug the device and plug it in again"
        }
    }
}

extension CardHolder {
    fileprivate var reason: String {
        let name = program ?? "another program"
        return switch manner {
        case .refuses: "\(name) does not let go of the sound card"
        case .isSilent: "\(name) has the sound card, and does not answer"
        case .hasAsked: "\(name) has asked for the sound card"
        }
    }
}
