import ALSASequencer
import BeatTime
import CLinux
import ConfigurationFiles
import ControlServer
import Essentials
import Gateway
import GatewayStatus
import Glibc
import Listening
import Logging
import RealTime

// What `tactus run` does after reading its options.
extension Run {
    /// Runs the gateway until it is asked to stop.
    func run() async throws {
        let signals = try Self.system { () throws(SystemCallError) in try RunSignals.taken.get() }
        let (setup, live, interfaces, address) = try plan()
        let oscAddress = try Self.configured { () throws(Mistakes) in try setup.oscAddress() }
        let token = try setup.secret()
        let (format, level) = (setup.logFormat.format, setup.logLevel)
        let console = try Self.system { () throws(SystemCallError) in
            try Console { format.lossLine(count: $0, at: millisecondsSince1970()) }
        }
        defer { console.flush() }
        LoggingSystem.bootstrap { label in
            ConsoleLog(console: console, format: format, label: label, logLevel: level)
        }

        ALSAComplaints.capture { text in
            Logger(label: "tactus").debug("libasound", metadata: ["error": "\(text)"])
        }
        // Writing to a FIFO without a reader must be an error of `write`, not the end of the program.
        signal(SIGPIPE, SIG_IGN)

        // The server first: a second gateway ends here, before it has sent anything to a device or a peer.
        var server: ControlServer?
        if let address {
            do throws(Failure) {
                server = try await Self.listen(at: address, token: token)
            } catch {
                throw await Self.alreadyRunning(at: address, token: token) ?? error
            }
            await server?.letOwnCommandsIn(at: ControlSockets.own(port: address.port), unlike: token)
        }
        var osc: OSCServer?
        if let oscAddress { osc = try await Self.listen(forOSCAt: oscAddress) }
        try Self.requireNoOtherRun(on: live)
        let manager = ServiceManager.found(log: Logger(label: "tactus.service")) { console.flush() }
        let grant = try Self.system { () throws(SystemCallError) in try RealTimeGrant() }
        let addresses = Self.addresses(address, server, oscAddress, osc)
        let gateway = try makeGateway(setup, live, interfaces, grant, addresses)
        manager?.watch(gateway, isRealTime: realtimePriority > 0)
        let listening = listening(gateway)
        server?.serve(gateway, listening: listening)
        osc?.serve(gateway)
        let announcer = Self.announcer(of: address)
        await printStart(of: gateway, at: address, token: token, format: setup.logFormat, on: console)

        let liveLine = Task { await Self.showStatus(of: gateway, on: console) }
        let addressWatch = Task { await addresses.watch() }
        let serviceLine = Task { await Self.tellStatus(of: gateway, to: manager) }
        let reloads = Task {
            await signals.reload.forEach {
                do {
                    try await gateway.reload()
                } catch {
                    Logger(label: "tactus").error("reload failed; nothing has changed", metadata: ["error": "\(error)"])
                }
            }
        }
        await signals.stop.wait()
        reloads.cancel()
        liveLine.cancel()
        serviceLine.cancel()
        addressWatch.cancel()
        manager?.stop()
        announcer?.stop()
        grant.stop()
        await liveLine.value

        // Before the gateway stops, because it must first undo the shift of the clock.
        await listening.stop()
        await osc?.stop()
        async let closed: Void? = server?.stop()
        await gateway.stop()
        await closed
    }

    /// Makes something that needs a thread or a descriptor.
    private static func system<Value>(_ make: () throws(SystemCallError) -> Value) throws(Failure) -> Value {
        do {
            return try make()
        } catch {
            throw Failure(.system, "\(error)")
        }
    }

    /// Reads all settings, and checks that enough descriptors are allowed.
    func plan() throws -> (Setup, LiveConfiguration, interfaces: [String], HTTPAddress?) {
        let setup = try self.setup()
        let (live, interfaces) = try Self.configured { () throws(Mistakes) in
            (try setup.liveConfiguration(), try setup.interfaces())
        }
        let address = try self.address(setup)
        try Descriptors.require(Self.descriptorsNeeded(live, interfaces, servesHTTP: address != nil))
        return (setup, live, interfaces, address)
    }

    /// Most descriptors that a run opens, even briefly.
    private static func descriptorsNeeded(_ live: LiveConfiguration, _ interfaces: [String], servesHTTP: Bool) -> Int {
        leastDescriptors + ServiceManager.descriptorsNeeded + RealTimeGrant.descriptorsNeeded
            + Gateway.descriptorsNeeded(live, interfaces: interfaces)
            + (servesHTTP ? ControlServer.descriptorsNeeded + PanelAnnouncer.descriptorsNeeded : 0)
    }

    /// Most descriptors that every run opens: standard streams, the runtime's, and files being read.
    static let leastDescriptors = 16 + Console.descriptorsNeeded

    /// Reads the configuration file and the profiles, and checks that what the command line names exists.
    private func setup() throws(Failure) -> Setup {
        try Folders.requireProfiles(profiles)
        let setup = try Self.configured { () throws(Mistakes) in try Setup(self) }
        for id in output.compactMap(\.profile) {
            do throws(UnknownProfile) {
                _ = try setup.library.profile(id: id)
            } catch {
                throw Failure(.badFile, "--output: \(error)")
            }
        }
        var requests: [OutputRequest] = []
        for output in output {
            let profile = output.profile.flatMap { try? setup.library.profile(id: $0) }
            let request = OutputRequest(output.destination, profile: profile)
            if let contradiction = request.contradiction {
                throw Failure(.usage, "--output \(output.destination.argument): \(contradiction)")
            }
            guard !requests.contains(where: { $0.key == request.key }) else {
                throw Failure(.usage, "--output \(output.destination.argument) is given twice")
            }
            if let channel = request.sharedChannel(with: requests) {
                let argument = output.destination.argument
                throw Failure(.usage, "--output \(argument): another --output has channel \(channel) of this card")
            }
            requests.append(request)
        }
        return setup
    }

    private static func configured<Value>(_ read: () throws(Mistakes) -> Value) throws(Failure) -> Value {
        do {
            return try read()
        } catch {
            throw Failure(.badFile, error.description)
        }
    }

    private func address(_ setup: Setup) throws(Failure) -> HTTPAddress? {
        let address = try Self.configured { () throws(Mistakes) in try setup.address() }
        if let address, !address.isLoopback, setup.token == nil {
            throw Failure(.usage, "--http \(address) lets others in; give it a secret with --http-token-file FILE")
        }
        return address
    }

    private static func listen(at address: HTTPAddress, token: BearerToken?) async throws(Failure) -> ControlServer {
        do {
            return try await ControlServer.listening(at: address, token: token, log: Logger(label: "tactus.control"))
        } catch {
            throw Failure(error.code == EACCES ? .noPermission : .system, "\(error)")
        }
    }

    /// The failure to report if another run listens at the address; nil if not, or unknown.
    private static func alreadyRunning(at address: HTTPAddress, token: BearerToken?) async -> Failure? {
        guard let url = try? ControlURL(argument: "http://\(address.reachable)") else { return nil }
        let client = ControlClient(url: url, token: token)
        for _ in 0..<20 {
            do {
                guard let pid = try await client.ask("status", nil).status.pid else { return nil }
                return Failure(.system, "Tactus is already running (pid \(pid)) at \(address); see 'tactus status'")
            } catch let failure as Failure where failure.status == .refused {
                // It listens, but is still starting.
                try? await Task.sleep(for: .milliseconds(50))
            } catch {
                return nil
            }
        }
        return nil
    }

    /// Checks that no other run, with another address for HTTP, sends to a line of this one.
    ///
    /// Later, as after a reload, the gateway leaves such a line alone and warns of it.
    private static func requireNoOtherRun(on live: LiveConfiguration) throws(Failure) {
        for case .raw(let path, _) in live.outputs.outputs.map(\.destination) {
            guard let other = RawLine.otherRun(sendingTo: path) else { continue }
            throw Failure(
                .system,
                """
                another run of Tactus (pid \(other.process)) sends to raw:\(path); end it with 'kill \(other.process)', \
                or leave this output out
                """)
        }
    }

    /// Prints where the panel is and what the outputs are, and with --qr a code of the panel's address.
    ///
    /// With logs in JSON, these lines are log records, because stdout and stderr may be one stream.
    private func printStart(
        of gateway: Gateway, at address: HTTPAddress?, token: BearerToken?, format: LogFormatArgument,
        on console: Console
    ) async {
        let log = Logger(label: "tactus")
        func say(_ line: String) {
            if format == .json { log.notice("\(line)") } else { console.tell(line) }
        }
        // Changes nothing; but the gateway has seen the ports when it has answered.
        try? await gateway.perform(.adjust(output: nil, OutputAdjustment()))
        let urls = address.map { PanelAddress.urls(of: $0) } ?? []
        for line in StartText.lines(gateway.status(), panel: urls, wantsToken: token != nil) { say(line) }
        guard qr, let address else { return }
        // A service's output is kept in a log, where a token does not belong.
        guard console.isLive else { return say("No QR code: this is not a terminal") }
        guard !address.isLoopback else { return say("No QR code: \(PanelAddress.onlyHere)") }
        guard let url = PanelAddress.urlsForOthers(of: address).first else {
            return say("No QR code: \(PanelAddress.noNetwork)")
        }
        do throws(Failure) {
            for line in try PanelAddress.code(url, token: token, isTerminal: true) { console.tell(line) }
        } catch {
            say("No QR code: \(error.text)")
        }
    }

    /// Announces the panel by mDNS if others can reach it.
    private static func announcer(of address: HTTPAddress?) -> PanelAnnouncer? {
        guard let address, !address.isLoopback else { return nil }
        let log = Logger(label: "tactus.announce")
        do throws(SystemCallError) {
            return try PanelAnnouncer(address: address, log: log)
        } catch {
            log.warning("panel not announced", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private static func listen(forOSCAt address: HTTPAddress) async throws(Failure) -> OSCServer {
        let log = Logger(label: "tactus.osc")
        if !address.isLoopback {
            log.notice("everyone in the network can control Tactus over OSC", metadata: ["address": "\(address)"])
        }
        do {
            return try await OSCServer.listening(at: address, log: log)
        } catch {
            throw Failure(error.code == EACCES ? .noPermission : .system, "OSC: \(error)")
        }
    }

    /// The addresses of the servers that run.
    private static func addresses(
        _ http: HTTPAddress?, _ server: ControlServer?, _ forOSC: HTTPAddress?, _ osc: OSCServer?
    ) -> ServedAddresses {
        var places: [ServedAddresses.Place] = []
        if let http, let server {
            places.append(
                .init(name: "the panel", address: http, setting: "--http or 'http' in the configuration") {
                    server.trouble
                })
        }
        if let forOSC, let osc {
            places.append(
                .init(name: "OSC", address: forOSC, setting: "'osc' in the configuration") { osc.trouble })
        }
        return ServedAddresses(places, log: Logger(label: "tactus.control"))
    }

    /// The settings of this run: options first, then saved state, then the file.
    private func configuration(
        _ setup: Setup, _ live: LiveConfiguration, _ kept: KeptState
    ) -> GatewayConfiguration {
        var configuration = GatewayConfiguration(live, kept: setup.starting(kept))
        configuration.written = setup.written
        configuration.tempo = tempo ?? configuration.tempo
        configuration.isLinkEnabled = link ?? configuration.isLinkEnabled
        configuration.isStartStopSyncEnabled = startStopSync ?? configuration.isStartStopSyncEnabled
        configuration.playsAtStart = play ?? setup.file.play ?? false
        configuration.resumes = play ?? setup.file.resume ?? false
        if quantum != nil { configuration.quantum = nil }
        if follow != nil || clockIn != nil { configuration.follow = nil }
        return configuration
    }

    private func makeGateway(
        _ setup: Setup, _ live: LiveConfiguration, _ interfaces: [String], _ grant: RealTimeGrant,
        _ addresses: ServedAddresses
    ) throws(Failure) -> Gateway {
        do {
            let log = Logger(label: "tactus")
            // Free memory from reading profiles would otherwise be locked with the rest.
            clinux_return_free_memory()
            let keeper = try StateKeeper(directory: state ?? Folders.state, log: log)
            var configuration = configuration(setup, live, keeper.found)
            configuration.clockInDevice = clockIn
            configuration.interfaces = interfaces
            configuration.realtimePriority = realtimePriority
            configuration.dispatch = dispatch
            return try Gateway(
                configuration, keeper: keeper, log: log, requester: grant.ask, others: { addresses.notices }
            ) { () throws(Mistakes) in
                try Setup(self).liveConfiguration(since: setup)
            }
        } catch {
            throw Failure(.system, "\(error)")
        }
    }

    /// Calibrates outputs by listening, and saves the offsets found in the profiles that the gateway reads.
    private func listening(_ gateway: Gateway) -> ListeningRoom {
        let folders = profiles
        return ListeningRoom(gateway) { (output, port, offset) throws(ListeningProblem) in
            do throws(Failure) {
                return try OwnProfile(for: output, recognisedBy: port, adding: folders).keep(offset: offset)
            } catch {
                throw ListeningProblem(.system, error.text)
            }
        }
    }

    /// Tells the service manager of changes in the status until cancelled.
    private static func tellStatus(of gateway: Gateway, to manager: ServiceManager?) async {
        guard let manager else { return }
        var last = ""
        while !Task.isCancelled {
            let line = StatusText.service(gateway.status())
            if line != last { manager.tell(line) }
            last = line
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// Updates the live line until cancelled, then clears it.
    private static func showStatus(of gateway: Gateway, on console: Console) async {
        guard console.isLive else { return }
        while !Task.isCancelled {
            console.show(StatusText.live(gateway.status(), width: console.width - 1))
            try? await Task.sleep(for: .milliseconds(100))
        }
        console.show("")
    }
}

extension ControlServer {
    /// Lets commands of this computer in without a token, if there is a folder for that; a run goes on without.
    fileprivate func letOwnCommandsIn(at socket: ControlSocket?, unlike token: BearerToken?) async {
        guard let socket else { return }
        let log = Logger(label: "tactus.control")
        do throws(SystemCallError) {
            try await listen(at: socket, log: log)
        } catch {
            guard token != nil else { return log.debug("no socket", metadata: ["error": "\(error)"]) }
            let fix =
                error.code == EWOULDBLOCK ? "end the other run that has it" : "see why \(socket.path) cannot be made"
            log.warning(
                "commands on this computer need the token, too", metadata: ["error": "\(error)", "fix": "\(fix)"])
        }
    }
}
