import BeatTime
import ConfigurationFiles
import MIDIClock
import Testing

@Suite struct ConfigurationTests {
    @Test func `an empty configuration leaves everything at its default`() throws {
        #expect(try ConfigurationFile(text: "version: 1") == (ConfigurationFile()))
        let empty = "version: 1\noutputs:\nfollow:\nlink: ~\nhttp: {}\nosc: null\ncontrols: []\nlog:\n"
        #expect(try ConfigurationFile(text: empty) == (ConfigurationFile()))
    }

    @Test(arguments: ["", "\n\n", "# version: 1\n#auto-connect: false\n", "\u{FEFF}# nothing", "---\n"])
    func `a configuration without content is an empty one`(text: String) throws {
        #expect(try ConfigurationFile(text: text) == ConfigurationFile())
    }

    @Test func `a configuration with content needs a version`() {
        let told = complaints { () throws(Mistakes) in _ = try ConfigurationFile(text: "auto-connect: false\n") }
        #expect(told == ["config.yaml:1:1: 'version' is missing; begin the file with 'version: 1'"])
    }

    @Test func `a configuration's values and positions are those of the file`() throws {
        let file = try ConfigurationFile(text: GoodFiles.configuration)
        #expect(file.outputs.map(\.port.value) == ["TR-8S", "raw:/dev/ttyAMA0@31250"])
        #expect(file.outputs.map { "\($0.port.place)" } == ["config.yaml:3:11", "config.yaml:6:11"])
        #expect(file.outputs.map(\.profile?.value) == ["roland-tr-8s", "generic"])
        #expect(file.outputs.map(\.profile?.place.column) == [14, 14])
        #expect(file.outputs.map { $0.overrides == ProfileOverrides() } == [false, true])
        #expect(file.connectsRecognised == true)
        #expect(file.follow.source?.value == "auto")
        #expect(file.follow.source.map { "\($0.place)" } == "config.yaml:9:19")
        #expect(file.follow.whenLost == .hold)
        #expect(file.link.quantum == Beats(4))
        #expect(file.link.interfaces.isEmpty)
        #expect(file.link.deactivatesWhenIdle == false)
        #expect(file.tempoRange == .all)
        #expect(file.http.address?.value == "127.0.0.1")
        #expect(file.http.port?.value == 8808)
        #expect(file.http.tokenFile == nil)
        #expect(file.osc.isEnabled == false)
        #expect(file.osc.address?.value == "127.0.0.1")
        #expect(file.osc.port?.value == 8809)
        #expect(file.controls.map(\.port.value) == ["FCB1010"])
        #expect(file.controls.map(\.message) == [Control.Message(.program, 1)])
        #expect(file.controls.map(\.verb) == [.play])
        #expect(file.log.level == .notice)
        #expect(file.log.format == .text)
    }

    @Test func `every key changes its setting`() throws {
        let file = try ConfigurationFile(text: GoodFiles.otherConfiguration)
        #expect(file.outputs.map(\.port.value) == ["24:0"])
        #expect(file.outputs.map(\.profile) == [nil])
        #expect(file.connectsRecognised == false)
        #expect(file.follow.source?.value == "off")
        #expect(file.follow.whenLost == .stop)
        #expect(file.link.quantum == Beats(microbeats: 500_000))
        #expect(file.link.interfaces.map(\.value) == ["eth0", "wlan0"])
        #expect(file.link.deactivatesWhenIdle == true)
        #expect(file.tempoRange == TempoRange(lowest: 70_000, highest: 140_500))
        #expect(file.http.address?.value == "::1")
        #expect(file.http.port?.value == 65_535)
        #expect(file.http.tokenFile?.value == "/etc/tactus/token")
        #expect(file.osc.isEnabled == true)
        #expect(file.osc.port?.value == 1)
        #expect(
            file.controls.map(\.message) == [
                Control.Message(.controller, 41, channel: 16), Control.Message(.note, 0, channel: 1),
                Control.Message(.note, 1), Control.Message(.program, 0, channel: 10),
                Control.Message(.program, 127, channel: 10), Control.Message(.controller, 106, low: 107),
            ])
        #expect(file.controls.map(\.verb) == [.togglePlay, .linkOff, .tempo, .tempo, .tempo, .tempo])
        #expect(file.controls.map(\.tempo) == [nil, nil, 20_125, 120_000, 128_500, nil])
        #expect(file.controls.map(\.port.value).suffix(3) == ["FCB1010", "FCB1010", "Tablet"])
        #expect(file.log.level == .critical)
        #expect(file.log.format == .json)
    }

    @Test func `a mistake found later is reported at the value's position`() throws {
        let file = try ConfigurationFile(text: "version: 1\nfollow:\n  source:   999:0")
        let mistake = file.follow.source?.mistake("a sequencer port is 0:0 to 191:253")
        #expect(mistake?.description == "config.yaml:3:13: a sequencer port is 0:0 to 191:253")
    }

    @Test func `overrides replace the named settings and keep the rest of the profile`() throws {
        let profile = try Profile(text: GoodFiles.everyKey)
        let output = try #require(
            try ConfigurationFile(
                text: "version: 1\noutputs: [{ port: Box, clock: { offset: -3.5 }, transport: { stop: true } }]"
            ).outputs.first)
        var expected = profile
        expected.settings.offset = -3_500
        expected.settings.sendsStop = true
        #expect(try profile.applying(output.overrides) == (expected))
        #expect(try profile.applying(ProfileOverrides()) == (profile))
    }

    @Test func `overrides affect how a device is realigned`() throws {
        let profile = try Profile(text: "version: 1\nname: Box")
        #expect(try profile.applying(overrides("{ song-position: false }")).settings.realign == .restart)
        let restarted = try Profile(text: "version: 1\nname: Box\ntransport: { song-position: false }")
        #expect(try restarted.applying(overrides("{ song-position: true }")).settings.realign == .songPosition)
    }

    @Test func `overrides that contradict the profile are reported with their position`() throws {
        let profile = try Profile(text: "version: 1\nname: Box\ntransport: { realign: song-position }")
        let overrides = try overrides("{ lead: 2, song-position: false }")
        #expect(
            complaints { () throws(Mistakes) in _ = try profile.applying(overrides) } == [
                "config.yaml:4:27: 'realign: song-position' cannot be combined with 'song-position: false'; "
                    + "write 'realign: restart'"
            ])
    }

    @Test func `an output of pulses cannot have time code as well`() throws {
        let profile = try Profile(text: "version: 1\nname: Box\npulses: [{ signal: run }]")
        let file = try ConfigurationFile(text: "version: 1\noutputs:\n  - port: Box\n    time-code: { rate: 25 }")
        let overrides = try #require(file.outputs.first?.overrides)
        #expect(
            complaints { () throws(Mistakes) in _ = try profile.applying(overrides) } == [
                "config.yaml:4:16: 'pulses' cannot be combined with 'time-code'; write a profile for each"
            ])
    }

    private func overrides(_ transport: String) throws -> ProfileOverrides {
        let file = try ConfigurationFile(text: "version: 1\noutputs:\n  - port: Box\n    transport: \(transport)")
        return try #require(file.outputs.first?.overrides)
    }
}
