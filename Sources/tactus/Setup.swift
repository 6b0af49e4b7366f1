import ALSASequencer
import BeatTime
import ConfigurationFiles
import ControlServer
import Essentials
import Gateway
import GatewayStatus
import Logging
import MIDIClock

/// What a run of the gateway goes by: its options, and beneath them the configuration file.
struct Setup {
    let options: Run
    /// Where the configuration file is; nil if there is none.
    let path: String?
    let file: ConfigurationFile
    let library: ProfileLibrary

    /// Reads the configuration file and all profiles.
    ///
    /// - Parameter options: of the command line.
    /// - Throws: everything that is wrong with the configuration file.
    init(_ options: Run) throws(Mistakes) {
        self.options = options
        path = options.config ?? Folders.configuration
        file = try path.map(ConfigurationFile.init(contentsOf:)) ?? ConfigurationFile()
        library = ProfileLibrary(adding: options.profiles)
    }

    /// What may change while the gateway runs.
    ///
    /// - Throws: everything in the configuration file that makes no sense, or that the profiles do not allow.
    func liveConfiguration() throws(Mistakes) -> LiveConfiguration {
        var reader = ConfigurationReader(library: library, hasClockPort: !options.noClockPort)
        var live = LiveConfiguration()
        live.outputs.library = library
        live.outputs.outputs =
            options.output.isEmpty
            ? file.outputs.compactMap { reader.output($0) } : options.output.compactMap { reader.output($0) }
        live.outputs.hasClockPort = !options.noClockPort
        live.outputs.connectsRecognised = file.connectsRecognised ?? options.output.isEmpty
        live.outputs.tempos = options.tempoRange ?? file.tempoRange ?? .all
        live.fence = reader.fence(options.sessionTempo, file.sessionTempo, outside: file.outsideSessionTempo)
        live.outputs.fold = live.fence?.folding
        live.quantum = options.quantum ?? file.link.quantum ?? Beats(4)
        live.deactivatesWhenIdle = file.link.deactivatesWhenIdle ?? false
        live.follow = options.follow ?? (options.clockIn == nil ? reader.follow(file.follow.source) : nil) ?? .auto
        live.stopsWhenLost = file.follow.whenLost == .stop
        live.controls = file.controls
        for control in file.controls { reader.check(control) }
        live.warnings = profileWarnings
        try reader.finish(outputs: live.outputs.outputs.count)
        return live
    }

    /// Profiles that are left out, and what is strange about their folders; each with its place.
    private var profileWarnings: [Status.Warning] {
        let fix = "mend it, then 'tactus reload'; 'tactus profiles check FILE' tells all that is wrong with a file"
        let all =
            library.mistakes.map {
                Status.Warning(code: "profile-left-out", message: "profile left out: \($0)", fix: fix)
            }
            + library.warnings.map { Status.Warning(code: "profile", message: $0, fix: fix) }
        guard all.count > Self.mostTold else { return all }
        let rest = "\(all.count - Self.mostTold) more like these"
        return all.prefix(Self.mostTold) + [Status.Warning(code: "profile", message: rest, fix: fix)]
    }

    private static let mostTold = 16

    /// Where to serve HTTP; nil not to.
    ///
    /// - Throws: when the file names no address, or one that lets others in and no secret.
    func address() throws(Mistakes) -> HTTPAddress? {
        guard !options.noHttp else { return nil }
        if let address = options.http { return address }
        let address = try Self.address(file.http.address, port: file.http.port?.value ?? 8808)
        if let written = file.http.address, address?.isLoopback == false, tokenFile == nil {
            let secret = "'\(written.value)' lets others in; 'token-file' is to name a file with a secret for them"
            throw Mistakes([written.mistake(secret)])
        }
        return address
    }

    private static func address(_ written: Placed<String>?, port: Int) throws(Mistakes) -> HTTPAddress? {
        let host = written?.value ?? "127.0.0.1"
        if let address = HTTPAddress("\(host.contains(":") ? "[\(host)]" : host):\(port)") { return address }
        guard let written else { return nil }
        throw Mistakes([written.mistake("'\(host)' is no address; it is numbers such as 127.0.0.1 or ::1")])
    }

    /// Where to take Open Sound Control; nil not to.
    ///
    /// - Throws: when the file names no address.
    func oscAddress() throws(Mistakes) -> HTTPAddress? {
        guard file.osc.isEnabled == true else { return nil }
        return try Self.address(file.osc.address, port: file.osc.port?.value ?? 8809)
    }

    var tokenFile: String? { options.httpTokenFile ?? file.http.tokenFile?.value }

    /// The networks that Link may use, by name.
    func interfaces() throws(Mistakes) -> [String] {
        guard options.interface.isEmpty else { return options.interface }
        var mistakes: [Mistake] = []
        let names = file.link.interfaces.compactMap { name in
            do throws(BadArgument) {
                return try interfaceName(argument: name.value)
            } catch {
                mistakes.append(name.mistake(error.description))
                return nil
            }
        }
        if !mistakes.isEmpty { throw Mistakes(mistakes) }
        return names
    }

    var logLevel: Logger.Level {
        options.logLevel ?? file.log.level.flatMap { Logger.Level(rawValue: $0.rawValue) } ?? .notice
    }

    var logFormat: LogFormatArgument {
        options.logFormat ?? file.log.format.flatMap { LogFormatArgument(rawValue: $0.rawValue) } ?? .text
    }
}

/// Reads what the configuration file leaves to the grammar of the command line, and gathers what is wrong.
private struct ConfigurationReader {
    let library: ProfileLibrary
    private var mistakes: [Mistake] = []
    /// Whether the port `Clock` is there without being named.
    let hasClockPort: Bool
    /// What the outputs so far are called; case does not count.
    private var names: Set<String> = []
    /// The newest output of the file.
    private var last: Placed<String>?

    init(library: ProfileLibrary, hasClockPort: Bool) {
        self.library = library
        self.hasClockPort = hasClockPort
    }

    /// An output of the command line; its profile has been looked up before.
    mutating func output(_ argument: OutputArgument) -> OutputRequest? {
        OutputRequest(argument.address, profile: argument.profile.flatMap { try? library.profile(id: $0) })
    }

    mutating func output(_ output: ConfigurationFile.Output) -> OutputRequest? {
        last = output.port
        var request: OutputRequest?
        do throws(BadArgument) {
            let address = try OutputAddress(argument: output.port.value)
            if hasClockPort { try address.requireNotClock() }
            if !names.insert(address.argument).inserted { throw BadArgument("this output is there already") }
            request = OutputRequest(address, overrides: output.overrides)
        } catch {
            mistakes.append(output.port.mistake("'\(output.port.value)': \(error)"))
        }
        if let profile = output.profile {
            do throws(UnknownProfile) {
                request?.profile = try library.profile(id: profile.value)
            } catch {
                mistakes.append(profile.mistake(error.description))
            }
        }
        do throws(Mistakes) {
            _ = try (request?.profile ?? Profile(id: "", name: "")).applying(output.overrides)
        } catch {
            mistakes += error.all
        }
        return request
    }

    mutating func follow(_ source: Placed<String>?) -> FollowChoice? {
        guard let source else { return nil }
        do throws(BadArgument) {
            return try FollowChoice(argument: source.value)
        } catch {
            mistakes.append(source.mistake("'\(source.value)': \(error)"))
            return nil
        }
    }

    /// The tempos of the session to go along with: the option's, or the file's.
    mutating func fence(
        _ option: TempoFence?, _ written: Placed<TempoFence>?, outside: TempoFence.Outside?
    ) -> TempoFence? {
        guard var fence = option ?? written?.value else { return nil }
        fence.outside = outside ?? .hold
        guard fence.outside == .fold, fence.folding == nil else { return fence }
        if option == nil, let written {
            mistakes.append(written.mistake("to fold a tempo into it, 'session-tempo' must be an octave wide"))
        }
        fence.outside = .hold
        return fence
    }

    mutating func check(_ control: Control) {
        guard case .outOfRange = PortAddress.read(control.port.value) else { return }
        mistakes.append(control.port.mistake("a sequencer port is 0:0 to 191:253; 'tactus ports' lists them"))
    }

    func finish(outputs: Int) throws(Mistakes) {
        var mistakes = mistakes
        if outputs > 63, let last { mistakes.append(last.mistake("there are \(outputs) outputs; 63 is the most")) }
        if !mistakes.isEmpty { throw Mistakes(mistakes) }
    }
}

/// Where files are, by the conventions of the system.
enum Folders {
    /// A folder of the user's: by its variable, which counts if it is absolute, or below the home folder.
    private static func own(_ variable: String, _ fallback: String) -> String? {
        let named = environment(variable).flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (named ?? environment("HOME").map { "\($0)/\(fallback)" }).map { "\($0)/tactus" }
    }

    /// Where the state is kept; nil where there is no home.
    static var state: String? { own("XDG_STATE_HOME", ".local/state") }

    /// The configuration file there is: the user's, or else the machine's.
    static var configuration: String? {
        [ownConfiguration, "/etc/tactus/config.yaml"].compactMap(\.self)
            .first(where: Files.exists)
    }

    /// Where the user's own configuration file is, or would be; nil where there is no home.
    static var ownConfiguration: String? { own("XDG_CONFIG_HOME", ".config").map { "\($0)/config.yaml" } }

    /// The folders that profiles are read from: the machine's, then the user's own.
    static var profiles: [String] { ["/etc/tactus/profiles", ownProfiles].compactMap(\.self) }

    /// The folder of the user's own profiles; nil where there is no home.
    static var ownProfiles: String? { own("XDG_CONFIG_HOME", ".config").map { "\($0)/profiles" } }
}

extension ProfileLibrary {
    /// The profiles that are built in, those of the machine and the user, and those of some more folders.
    init(adding folders: [String]) {
        self.init(builtIn: BuiltInProfile.all, folders: Folders.profiles + folders)
    }
}
