import ArgumentParser
import BeatTime
import ConfigurationFiles
import ControlServer
import Doctor
import Essentials
import Foundation
import Gateway
import GatewayStatus
import Logging
import MIDIClock
import Testing

@testable import tactus

@Suite
struct SetupTests {
    /// Runs `body` with a configuration file of its own, deleted afterwards.
    private func withSetup<Result>(
        _ configuration: String, _ options: [String] = [], _ body: (Setup) throws -> Result
    ) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tactus-setup-\(UUID())").path()
        try FileManager.default.createDirectory(atPath: "\(folder)/profiles", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try configuration.write(toFile: "\(folder)/config.yaml", atomically: false, encoding: .utf8)
        try "version: 1\nname: Test Drum\nclock: { offset: -2 }\n".write(
            toFile: "\(folder)/profiles/test-drum.yaml", atomically: false, encoding: .utf8)
        let words = ["run", "--config", "\(folder)/config.yaml", "--profiles", "\(folder)/profiles"] + options
        let run = try #require(try Tactus.parseAsRoot(words) as? Run)
        return try body(try Setup(run))
    }

    private static let whole = """
        version: 1
        outputs:
          - port: TR-8S
            profile: test-drum
            clock: { offset: -3.5 }
          - port: raw:/dev/ttyAMA0@31250
        auto-connect: false
        follow: { source: MPC, when-lost: stop }
        link: { quantum: 3, interfaces: [eth0], deactivate-when-idle: true }
        tempo-range: [60, 180]
        session-tempo: [90, 180]
        session-tempo-outside: fold
        http: { address: "::1", port: 9000, token-file: /etc/token }
        osc: { enabled: true, address: 192.168.7.2, port: 9001 }
        controls: [{ port: "24:0", message: { note: 60 }, do: tap }]
        log: { level: debug, format: json }
        """

    @Test
    func `a weak token is warned of, with what is weak about it`() throws {
        func codes(_ token: String, _ mode: mode_t, _ options: [String] = []) throws -> [String] {
            let file = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID())").path()
            defer { try? FileManager.default.removeItem(atPath: file) }
            try token.write(toFile: file, atomically: false, encoding: .utf8)
            try #require(chmod(file, mode) == 0)
            return try withSetup("version: 1\nhttp: { token-file: '\(file)' }\n", options) { setup in
                let warnings = try setup.liveConfiguration().notices
                let findings = DoctorCommand.tokenFindings(configuration: setup.path)
                // 'tactus doctor' does not know the options of the run.
                if options.isEmpty {
                    #expect(findings.filter { $0.level != .ok }.map(\.fix) == warnings.map(\.fix))
                }
                // The first word of the fix: head makes a longer token, chmod hides it from other users.
                return warnings.map { "\($0.code): \($0.fix.prefix { $0 != " " })" }
            }
        }
        #expect(try codes("0123456789abcdef\n", 0o640) == [])
        #expect(try codes("0123456789abcde\n", 0o600) == ["weak-token: 'head"])
        #expect(try codes("0123456789abcdef\n", 0o644) == ["weak-token: 'chmod"])
        #expect(try codes("1", 0o604) == ["weak-token: 'head", "weak-token: 'chmod"])
        #expect(try codes("1", 0o604, ["--no-http"]) == [])
    }

    @Test
    func `a token is read once, so it may come through a pipe`() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("short".utf8))
        try pipe.fileHandleForWriting.close()
        let path = "/proc/self/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        let (text, codes) = try withSetup("version: 1\n", ["--http-token-file", path]) { setup throws in
            (try setup.token?.token.get().text, try setup.liveConfiguration().notices.map(\.code))
        }
        #expect(text == "short" && codes == ["weak-token"])
    }

    @Test
    func `a new token takes effect after a restart`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID())").path()
        defer { try? FileManager.default.removeItem(atPath: file) }
        try "0123456789abcdef".write(toFile: file, atomically: false, encoding: .utf8)
        try withSetup("version: 1\nhttp: { token-file: '\(file)' }\n") { started in
            #expect(chmod(file, 0o604) == 0)
            #expect(try Setup(started.options).liveConfiguration(since: started).notices.map(\.code) == ["weak-token"])
            try "fedcba9876543210".write(toFile: file, atomically: false, encoding: .utf8)
            #expect(chmod(file, 0o600) == 0)
            let live = try Setup(started.options).liveConfiguration(since: started)
            #expect(live.notices.map(\.code) == ["restart-needed"])
        }
    }

    @Test
    func `a configuration file sets everything that the command line leaves open`() throws {
        try withSetup(Self.whole) { setup in
            let live = try setup.liveConfiguration()
            #expect(
                live.outputs.outputs.map(\.destination) == [
                    .name("TR-8S"), .raw(path: "/dev/ttyAMA0", bitsPerSecond: 31250),
                ])
            let drums = try #require(live.outputs.outputs.first)
            #expect(try drums.profile?.applying(drums.overrides).settings.offset == -3_500)
            #expect(!live.outputs.connectsRecognised)
            #expect(live.outputs.tempos == TempoRange(lowest: 60_000, highest: 180_000))
            #expect(live.fence?.outside == .fold)
            #expect(live.fence?.folding == TempoRange(lowest: 90_000, highest: 180_000))
            #expect(live.follow == .port("MPC"))
            #expect(live.stopsWhenLost)
            #expect(live.quantum == Beats(3))
            #expect(live.deactivatesWhenIdle)
            #expect(live.controls.map(\.verb) == [.tap])
            #expect(try setup.oscAddress()?.description == "192.168.7.2:9001")
            #expect(try setup.address() == HTTPAddress("[::1]:9000"))
            #expect(try setup.interfaces() == ["eth0"])
            #expect(setup.token?.path == "/etc/token")
            #expect(setup.logLevel == .debug)
            #expect(setup.logFormat == .json)
        }
    }

    @Test
    func `what was saved counts, unless the file has changed since or counts at each start`() throws {
        let keys = "tempo: 97.5\nlink: { enabled: false, start-stop-sync: true }\n"
        var kept = KeptState()
        (kept.tempo, kept.link) = (130, true)
        try withSetup("version: 1\nplay: true\n" + keys) { setup in
            #expect(setup.file.play == true)
            kept.written = setup.written
            let state = setup.starting(kept)
            #expect((state.tempo, state.link, state.startStopSync) == (130, true, true))
            #expect(setup.starting(KeptState()).tempo == 97.5)
            // It has been changed since, or is another one than when that was saved.
            kept.written = setup.written
            #expect(setup.starting(kept).tempo == 130)
            kept.written?.tempo = 97
            #expect(setup.starting(kept).tempo == 97.5)
        }
        try withSetup("version: 1\nat-each-start: [tempo, start-stop-sync]\n" + keys) { setup in
            let state = setup.starting(kept)
            #expect((state.tempo, state.link, state.startStopSync) == (97.5, true, true))
        }
        try withSetup("version: 1\nat-each-start: [tempo]\n") { setup in #expect(setup.starting(kept).tempo == 130) }
    }

    @Test
    func `paths in the file begin at home or beside the file, and are told with their place`() throws {
        let text = """
            version: 1
            http: { token-file: ~/no-such-token }
            outputs: [{ port: raw:line }, { port: raw:/dev/a }]
            """
        try withSetup(text) { setup in
            let (home, path) = (try #require(environment("HOME")), try #require(setup.path))
            let folder = (path as NSString).deletingLastPathComponent
            #expect(setup.token?.path == "\(home)/no-such-token")
            #expect(
                try setup.liveConfiguration().outputs.outputs.map(\.destination) == [
                    .raw(path: "\(folder)/line", bitsPerSecond: 31250), .raw(path: "/dev/a", bitsPerSecond: 31250),
                ])
            let failure = #expect(throws: Failure.self) { try setup.secret() }
            #expect(failure?.status == .badFile)
            #expect(failure?.text == "\(path):2:21: token file \(home)/no-such-token: there is no such file")
        }
    }

    @Test
    func `names of outputs are their own, and count from the next start on`() throws {
        let text = "version: 1\noutputs: [{ port: UM-ONE, name: Bass }, { port: '24:0' }]\n"
        try withSetup(text) { started in
            #expect(try started.liveConfiguration().outputs.outputs.map(\.name) == ["Bass", nil])
            let path = try #require(started.path)
            try text.replacing("Bass", with: "Lead").write(toFile: path, atomically: false, encoding: .utf8)
            let live = try Setup(started.options).liveConfiguration(since: started)
            #expect(live.notices.map(\.code) == ["restart-needed"])
        }
        for (wrong, place) in [
            ("[{ port: A, name: x }, { port: B, name: X }]", "2:50"), ("[{ port: 'virtual:A', name: x }]", "2:38"),
            ("[{ port: A, name: clock }]", "2:28"),
        ] {
            try withSetup("version: 1\noutputs: \(wrong)\n") { setup in
                let mistakes = #expect(throws: Mistakes.self) { try setup.liveConfiguration() }
                #expect(mistakes?.all.map { "\($0.place.line):\($0.place.column)" } == [place])
            }
        }
    }

    @Test
    func `the command line overrides the file`() throws {
        let options = [
            "--output", "Volca=test-drum", "--follow", "off", "--quantum", "7", "--tempo-range", "90-180", "--http",
            "127.0.0.1:1", "--interface", "wlan0", "--log-level", "error", "--log-format", "text",
        ]
        try withSetup(Self.whole, options) { setup in
            let live = try setup.liveConfiguration()
            #expect(live.outputs.outputs.map(\.destination) == [.name("Volca")])
            #expect(live.outputs.outputs.first?.profile?.name == "Test Drum")
            #expect(live.follow == .off)
            #expect(live.quantum == Beats(7))
            #expect(live.outputs.tempos == TempoRange(lowest: 90_000, highest: 180_000))
            #expect(try setup.address() == HTTPAddress("127.0.0.1:1"))
            #expect(try setup.interfaces() == ["wlan0"])
            #expect(setup.logLevel == .error)
            #expect(setup.logFormat == .text)
        }
    }

    @Test
    func `recognized devices are connected by default, with --output only if the file says so`() throws {
        func connectsRecognised(_ file: String, _ options: String...) throws -> Bool {
            try withSetup(file, options) { try $0.liveConfiguration().outputs.connectsRecognised }
        }
        #expect(try connectsRecognised("version: 1"))
        #expect(try !connectsRecognised("version: 1\nauto-connect: false"))
        #expect(try !connectsRecognised("version: 1", "--output", "TR-8S"))
        #expect(try connectsRecognised("version: 1\nauto-connect: true", "--output", "TR-8S"))
        #expect(try connectsRecognised("version: 1\noutputs: [{ port: TR-8S }]"))
    }

    @Test(arguments: [
        (
            "version: 1\noutputs:\n  - port: 24:254\n",
            "3:11: '24:254': a sequencer port is 0:0 to 191:253; 'tactus ports' lists them"
        ),
        (
            "version: 1\noutputs:\n  - port: TR-8S\n    profile: test-drumm\n",
            "4:14: there is no profile 'test-drumm'; did you mean 'test-drum'?"
        ),
        (
            "version: 1\noutputs:\n  - port: TR-8S\n  - { port: TR-8S }\n",
            "4:13: 'TR-8S': another output has this port already; delete one of them"
        ),
        (
            "version: 1\noutputs: [{ port: TR-8S }, { port: tr-8s }]\n",
            "2:36: 'tr-8s': another output has this port already; delete one of them"
        ),
        (
            "version: 1\noutputs:\n  - { port: TR-8S }\n  - { port: UM-ONE, name: tr-8s }\n",
            "4:27: 'tr-8s': another output has this name already; choose another"
        ),
        (
            "version: 1\noutputs:\n  - { port: UM-ONE, name: TR-8S }\n  - { port: TR-8S }\n",
            "4:13: 'TR-8S': another output has this name already; add a 'name'"
        ),
        (
            "version: 1\noutputs:\n  - port: virtual:Clock\n",
            "3:11: 'virtual:Clock': the port Clock always exists; "
                + "--no-clock-port frees its name"
        ),
        (
            "version: 1\nfollow: { source: \"raw:/dev/midi1\" }\n",
            "2:19: 'raw:/dev/midi1': raw: is for outputs; use a name such as TR-8S, a number such as 24:0, auto or off"
        ),
        (
            "version: 1\nfollow: { source: 192:0 }\n",
            "2:19: '192:0': a sequencer port is 0:0 to 191:253; 'tactus ports' lists them"
        ),
        ("version: 1\nqantum: 4\n", "2:1: "),
        ("version: 1\ncontrols:\n- { port: 900:0, message: { note: 1 }, do: tap }\n", "3:11: a sequencer port is"),
    ])
    func `invalid values are reported with their position`(text: String, message: String) throws {
        let mistakes = #expect(throws: Mistakes.self) { try withSetup(text) { _ = try $0.liveConfiguration() } }
        let told = try #require(mistakes?.all.first)
        #expect(mistakes?.all.count == 1)
        #expect("\(told.place.line):\(told.place.column): \(told.message)".hasPrefix(message))
    }

    @Test
    func `Open Sound Control is off by default, and listens only on this machine unless an address is given`() throws {
        for text in ["", "osc: { port: 9000 }", "osc: { enabled: false }"] {
            #expect(try withSetup("version: 1\n\(text)") { try $0.oscAddress() } == nil)
        }
        let address = try withSetup("version: 1\nosc: { enabled: true }") { try $0.oscAddress() }
        #expect(address?.description == "127.0.0.1:8809" && address?.isLoopback == true)
        // An address is numbers; a word would have to be looked up.
        #expect(throws: Mistakes.self) {
            try withSetup("version: 1\nosc: { enabled: true, address: all }") { try $0.oscAddress() }
        }
    }

    @Test
    func `an address open to others needs a token, and the file's position is reported`() throws {
        let open = "version: 1\nhttp: { address: 0.0.0.0 }"
        let mistakes = #expect(throws: Mistakes.self) { try withSetup(open) { try $0.address() } }
        #expect(mistakes?.description.contains("config.yaml:2:18: '0.0.0.0' lets others in; set 'token-file'") == true)
        #expect(try withSetup(open, ["--http-token-file", "secret"]) { try $0.address() }?.isLoopback == false)
        #expect(try withSetup(open, ["--no-http"]) { try $0.address() } == nil)
        #expect(try withSetup(open, ["--http", "127.0.0.1:1"]) { try $0.address() }?.port == 1)
    }

    @Test
    func `settings that need a restart are reported, unless an option overrides them`() throws {
        func waiting(_ old: String, _ new: String, _ options: String...) throws -> [String] {
            try withSetup("version: 1\n" + old, options) { started in
                try withSetup("version: 1\n" + new, options) { try $0.liveConfiguration(since: started).notices }
            }.filter { $0.code == "restart-needed" }.map(\.message)
        }
        let http = ["'http' has changed, which takes effect after a restart"]
        #expect(try waiting("", "http: { port: 9000 }") == http)
        #expect(try waiting("http: { port: 9000 }", "\n\nhttp: { port: 9000 }").isEmpty)
        #expect(try waiting("", "http: { port: 9000 }", "--http", "127.0.0.1:1").isEmpty)
        #expect(try waiting("", "link: { interfaces: [eth0] }\nlog: { level: debug }\nosc: { port: 1 }").count == 3)
        #expect(try waiting("", "link: { quantum: 3 }\nfollow: { source: off }\noutputs: [{ port: X }]").isEmpty)
    }

    @Test
    func `a wrong profile is left out and reported at the start, and prevents a later reload`() throws {
        try withSetup("version: 1") { started in
            let folder = try #require(started.options.profiles.first)
            try "version: 1\nname: X\nclok: {}\n".write(
                toFile: "\(folder)/x.yaml", atomically: false, encoding: .utf8)
            let setup = try Setup(started.options)
            let place = "\(folder)/x.yaml:3:1: unknown key 'clok'; did you mean 'clock'?"
            let warning = try setup.liveConfiguration().notices.first { $0.code == "profile-left-out" }
            #expect(warning?.message == "profile left out: \(place)")
            #expect(warning?.fix.contains("profiles check") == true)
            let mistakes = #expect(throws: Mistakes.self) { try setup.liveConfiguration(since: started) }
            #expect(mistakes?.description == place)
        }
    }

    @Test
    func `everything the command line names must still exist`() throws {
        let mistakes = try withSetup("version: 1", ["--output", "Synth=test-drum"]) { started in
            let folder = try #require(started.options.profiles.first)
            try FileManager.default.removeItem(atPath: "\(folder)/test-drum.yaml")
            return #expect(throws: Mistakes.self) { try Setup(started.options).liveConfiguration(since: started) }
        }
        let message = try #require(mistakes?.description)
        let told = "the profile 'test-drum' of an --output no longer exists; put it back, or restart without it"
        #expect(message.hasSuffix("test-drum.yaml:1:1: \(told)"))
    }
}
