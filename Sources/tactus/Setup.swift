import ALSASequencer
import BeatTime
import ConfigurationFiles
import ControlServer
import Essentials
import Gateway
import Glibc
import Logging
import MIDIClock

/// Settings of a run of the gateway: the command line's options, then the configuration file.
struct Setup {
    let options: Run
    /// The configuration file's path; nil if there is none.
    let path: String?
    let file: ConfigurationFile
    let library: ProfileLibrary
    /// The token file as it was then; nil if none is named.
    let token: TokenFile?

    /// Reads the configuration file and all profiles.
    ///
    /// - Parameter options: from the command line.
    /// - Throws: all mistakes in the configuration file.
    init(_ options: Run) throws(Mistakes) {
        self.options = options
        path = options.config ?? Folders.configuration
        file = try path.map(ConfigurationFile.init(contentsOf:)) ?? ConfigurationFile()
        library = ProfileLibrary(adding: options.profiles)
        token = (options.httpTokenFile ?? file.tokenFile).map(TokenFile.init)
    }

    /// The secret that clients must show; nil for none.
    ///
    /// - Throws: why it cannot be read, with the place in the configuration file if that names it.
    func secret() throws(Failure) -> BearerToken? {
        do throws(Failure) {
            return try token?.token.get()
        } catch {
            guard let secretMistake else { throw error }
            throw Failure(error.status == .noPermission ? .noPermission : .badFile, secretMistake.description)
        }
    }

    /// What is wrong with the token file that the configuration file names; nil if nothing is.
    var secretMistake: Mistake? {
        guard options.httpTokenFile == nil, case .failure(let failure) = token?.token else { return nil }
        return file.http.tokenFile?.mistake(failure.text)
    }

    /// What the file says of how to start.
    var written: KeptState.Written {
        KeptState.Written(
            tempo: file.tempo.map { Double($0) / 1_000 }, link: file.link.isEnabled,
            startStopSync: file.link.isStartStopSyncEnabled)
    }

    /// What was saved; but what the file says counts where nothing was saved, where the file has changed since, or at
    /// each start if it says so.
    func starting(_ kept: KeptState) -> KeptState {
        func choose<Value: Equatable>(
            _ saved: Value?, _ written: Value?, _ before: Value?, _ key: ConfigurationFile.Starting
        ) -> Value? {
            guard let written, saved == nil || written != before || file.atEachStart.contains(key) else { return saved }
            return written
        }
        var state = kept
        let (now, before) = (written, kept.written)
        state.tempo = choose(kept.tempo, now.tempo, before?.tempo, .tempo)
        state.link = choose(kept.link, now.link, before?.link, .link)
        state.startStopSync = choose(kept.startStopSync, now.startStopSync, before?.startStopSync, .startStopSync)
        return state
    }

    /// The settings that can change while the gateway runs.
    ///
    /// - Throws: everything in the configuration file that is invalid, or that the profiles do not allow.
    func liveConfiguration() throws(Mistakes) -> LiveConfiguration {
        var reader = ConfigurationReader(library: library, hasClockPort: !options.noClockPort)
        var live = LiveConfiguration()
        live.outputs.library = library
        live.outputs.outputs =
            options.output.isEmpty
            ? file.outputs.compactMap { reader.output($0) }
            : options.output.map { output in
                let isShared = options.output.count { $0.destination.argument == output.destination.argument } > 1
                return reader.output(output, named: options.name, isShared: isShared)
            }
        live.outputs.hasClockPort = !options.noClockPort
        live.outputs.connectsRecognised = file.connectsRecognised ?? options.output.isEmpty
        live.outputs.tempos = options.tempoRange ?? file.tempoRange ?? .all
        live.fence = reader.fence(options.sessionTempo, file.sessionTempo, outside: file.outsideSessionTempo)
        live.quantum = options.quantum ?? file.link.quantum ?? Beats(4)
        live.deactivatesWhenIdle = file.link.deactivatesWhenIdle ?? false
        live.follow = options.follow ?? (options.clockIn == nil ? reader.follow(file.follow.source) : nil) ?? .auto
        live.stopsWhenLost = file.follow.whenLost == .stop
        live.leaderPeriod = file.follow.period
        live.controls = file.controls
        for control in file.controls { reader.check(control) }
        live.notices = profileNotices
        if !options.noHttp { live.notices += token?.notices ?? [] }
        try reader.finish(outputs: live.outputs.outputs.count)
        return live
    }

    /// Profiles left out, and problems with their folders; each with its position.
    private var profileNotices: [Notice] {
        let all = library.mistakes.map { Notice.profileLeftOut("\($0)") } + library.warnings.map(Notice.profiles)
        guard all.count > Self.mostTold else { return all }
        return all.prefix(Self.mostTold) + [.profiles("\(all.count - Self.mostTold) more like these")]
    }

    private static let mostTold = 16

    /// Where to serve HTTP; nil for not at all.
    ///
    /// - Throws: when the file has an invalid address, or one open to others without a token.
    func address() throws(Mistakes) -> HTTPAddress? {
        guard !options.noHttp else { return nil }
        if let address = options.http { return address }
        let address = try Self.address(file.http.address, port: file.http.port?.value ?? 8808)
        if let written = file.http.address, address?.isLoopback == false, token == nil {
            let secret = "'\(written.value)' lets others in; set 'token-file' to a file with a secret for them"
            throw Mistakes([written.mistake(secret)])
        }
        return address
    }

    private static func address(_ written: Placed<String>?, port: Int) throws(Mistakes) -> HTTPAddress? {
        let host = written?.value ?? "127.0.0.1"
        if let address = HTTPAddress("\(host.contains(":") ? "[\(host)]" : host):\(port)") { return address }
        guard let written else { return nil }
        throw Mistakes([written.mistake("'\(host)' is not an address; use numbers such as 127.0.0.1 or ::1")])
    }

    /// Where to receive Open Sound Control; nil for not at all.
    ///
    /// - Throws: when the file has an invalid address.
    func oscAddress() throws(Mistakes) -> HTTPAddress? {
        guard file.osc.isEnabled == true else { return nil }
        return try Self.address(file.osc.address, port: file.osc.port?.value ?? 8809)
    }

    /// Names of the networks that Link may use.
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

/// Parses what the configuration file writes in the command line's grammar, and collects mistakes.
private struct ConfigurationReader {
    let library: ProfileLibrary
    private var mistakes: [Mistake] = []
    /// Whether the port `Clock` exists without being named.
    let hasClockPort: Bool
    /// The outputs so far.
    private var requests: [OutputRequest] = []
    /// Ports of the outputs so far, and what they are called; case-insensitive.
    private var ports: Set<OutputRequest.Key> = []
    private var names: Set<String> = []
    /// Groups of outputs, as often as they are written.
    private var groups: [Placed<String>] = []
    /// The last output of the file.
    private var last: Placed<String>?

    init(library: ProfileLibrary, hasClockPort: Bool) {
        self.library = library
        self.hasClockPort = hasClockPort
    }

    /// An output of the command line; its profile was checked before.
    ///
    /// - Parameters:
    ///   - argument: the output.
    ///   - names: of all outputs.
    ///   - isShared: whether the port has two outputs, one for a clock and one for time code.
    /// - Returns: what is asked for.
    func output(_ argument: OutputArgument, named names: [OutputName], isShared: Bool) -> OutputRequest {
        var request = OutputRequest(
            argument.destination, profile: argument.profile.flatMap { try? library.profile(id: $0) })
        let name = names.first { $0.destination.argument == argument.destination.argument }?.name
        request.name = name.map { $0 + (request.isTimeCode && isShared ? OutputRequest.timeCodeSuffix : "") }
        return request
    }

    mutating func output(_ output: ConfigurationFile.Output) -> OutputRequest? {
        last = output.port
        groups += output.groups
        var request: OutputRequest?
        do throws(BadArgument) {
            let destination = try Destination(argument: Self.port(output.port))
            if hasClockPort { try destination.requireNotClock() }
            let profile = output.profile.flatMap { try? library.profile(id: $0.value) }
            let wanted = OutputRequest(
                destination, name: output.name?.value, profile: profile, overrides: output.overrides,
                groups: output.groups.map(\.value))
            if output.profile == nil || profile != nil, let contradiction = wanted.contradiction {
                throw BadArgument(contradiction)
            }
            if !ports.insert(wanted.key).inserted {
                throw BadArgument("another output has this port already; delete one of them")
            }
            if let channel = wanted.sharedChannel(with: requests) {
                throw BadArgument("another output has channel \(channel) of this card already; choose another")
            }
            requests.append(wanted)
            request = wanted
        } catch {
            mistakes.append(output.port.mistake("'\(output.port.value)': \(error)"))
        }
        if let name = output.name {
            do throws(BadArgument) {
                if let request { try request.destination.requireNameable(name.value, hasClockPort: hasClockPort) }
                if !names.insert(name.value.lowercased()).inserted {
                    throw BadArgument("another output has this name already; choose another")
                }
            } catch {
                mistakes.append(name.mistake("'\(name.value)': \(error)"))
            }
        } else if let name = request?.ownName, !names.insert(name.lowercased()).inserted {
            mistakes.append(output.port.mistake("'\(name)': another output has this name already; add a 'name'"))
        }
        if let profile = output.profile {
            do throws(UnknownProfile) {
                _ = try library.profile(id: profile.value)
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

    /// A port as the file writes it, with the whole path of a raw line.
    private static func port(_ port: Placed<String>) -> String {
        let raw = "raw:"
        guard port.value.hasPrefix(raw) else { return port.value }
        return raw + Folders.path(String(port.value.dropFirst(raw.count)), in: port.place.file)
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

    /// The session tempos to follow: the option's, or the file's.
    mutating func fence(
        _ option: TempoFence?, _ written: Placed<TempoFence>?, outside: TempoFence.Outside?
    ) -> TempoFence? {
        guard var fence = option ?? written?.value else { return nil }
        fence.outside = outside ?? .hold
        guard fence.outside == .fold, fence.folding == nil else { return fence }
        let mistake =
            "with 'session-tempo-outside: fold' the second tempo must be at least twice the first, as in [90, 180]"
        if option == nil, let written { mistakes.append(written.mistake(mistake)) }
        fence.outside = .hold
        return fence
    }

    mutating func check(_ control: Control) {
        guard case .outOfRange = PortAddress.read(control.port.value) else { return }
        mistakes.append(control.port.mistake("a sequencer port is 0:0 to 191:253; 'tactus ports' lists them"))
    }

    func finish(outputs: Int) throws(Mistakes) {
        var mistakes = mistakes
        let taken = names.union(hasClockPort ? ["clock"] : [])
        for group in groups where taken.contains(group.value.lowercased()) {
            mistakes.append(group.mistake("'\(group.value)': an output has this name; choose another for the group"))
        }
        if outputs > 63, let last { mistakes.append(last.mistake("there are \(outputs) outputs; 63 is the most")) }
        if !mistakes.isEmpty { throw Mistakes(mistakes) }
    }
}

/// Standard places of files.
enum Folders {
    /// A path as a file writes it: `~` is the user's home folder, and a relative path begins in the file's own folder.
    static func path(_ written: String, in file: String) -> String {
        if written == "~" || written.hasPrefix("~/"), let home = environment("HOME") {
            return home + written.dropFirst()
        }
        return written.isEmpty || written.hasPrefix("/") ? written : "\(Files.folder(of: file))/\(written)"
    }

    /// A folder of the user: from an absolute path in a variable, or else below the home folder.
    private static func own(_ variable: String, _ fallback: String) -> String? {
        let named = environment(variable).flatMap { $0.hasPrefix("/") ? $0 : nil }
        return (named ?? environment("HOME").map { "\($0)/\(fallback)" }).map { "\($0)/tactus" }
    }

    /// The folder for saved state; nil without a home folder.
    static var state: String? { own("XDG_STATE_HOME", ".local/state") }

    /// The configuration file to use: the user's, or else the machine's.
    static var configuration: String? {
        // Also a link to nothing, which is told rather than passed over.
        [ownConfiguration, "/etc/tactus/config.yaml"].compactMap(\.self)
            .first { Files.owner(of: $0) != nil }
    }

    /// The configuration file to write a setting into: the one to use, but the user's own if the machine's says nothing
    /// and is not for this user to write.
    static var configurationToChange: String? {
        guard let used = configuration else { return ownConfiguration }
        let saysNothing = (try? ConfigurationFile(contentsOf: used)) == ConfigurationFile()
        return saysNothing && access(used, W_OK) != 0 ? ownConfiguration ?? used : used
    }

    /// The path of the user's own configuration file; nil without a home folder.
    static var ownConfiguration: String? { own("XDG_CONFIG_HOME", ".config").map { "\($0)/config.yaml" } }

    /// The folders of profiles: the machine's, then the user's.
    static var profiles: [String] { ["/etc/tactus/profiles", ownProfiles].compactMap(\.self) }

    /// Checks that the folders of `--profiles` are there.
    static func requireProfiles(_ folders: [String]) throws(Failure) {
        for folder in folders where !Files.exists(folder) {
            throw Failure(.usage, "--profiles \(folder): there is no such folder")
        }
    }

    /// The folder of the user's own profiles; nil without a home folder.
    static var ownProfiles: String? { own("XDG_CONFIG_HOME", ".config").map { "\($0)/profiles" } }
}

extension ConfigurationFile {
    /// The path of the token file that it names.
    var tokenFile: String? { http.tokenFile.map { Folders.path($0.value, in: $0.place.file) } }
}

extension ProfileLibrary {
    /// The built-in profiles, those of the machine and the user, and those of more folders.
    init(adding folders: [String]) {
        self.init(builtIn: BuiltInProfile.all, folders: Folders.profiles + folders)
    }
}
