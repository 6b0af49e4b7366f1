import ConfigurationFiles
import MIDIClock
import Testing

@Suite struct ProfileTests {
    @Test func `an empty profile is the default`() throws {
        let profile = try Profile(yaml: Array("version: 1\nname: Box\n".utf8), file: "some/folder/my box.yaml")
        #expect(profile.id == "my box")
        #expect(profile.file == "some/folder/my box.yaml")
        #expect(profile.name == "Box")
        #expect(profile.match.isEmpty)
        #expect(profile.settings == OutputSettings())
        #expect(profile.input == Profile.Input())
        #expect(profile.notes.isEmpty)
    }

    @Test func `a profile with all defaults written is the default`() throws {
        var profile = try Profile(text: GoodFiles.everyDefault)
        #expect(profile.settings == OutputSettings())
        profile.name = "Box"
        #expect(try profile == (Profile(text: "version: 1\nname: Box\ntransport: { realign: song-position }")))
    }

    @Test func `a profile's values reach the planner in its units`() throws {
        let profile = try Profile(text: GoodFiles.profile)
        #expect(profile.name == "Roland TR-8S")
        #expect(profile.match == ["TR-8S MIDI 1"])
        var expected = OutputSettings(lead: 1_000, locate: 20_000)
        expected.offset = -2_000
        expected.tempos = try #require(TempoRange(lowest: 40_000, highest: 300_000))
        #expect(profile.settings == expected)
        #expect(profile.input == Profile.Input())
        #expect(
            profile.notes == [
                Profile.Note(
                    fact: "transmits clock at all times", source: "https://example.org/tr-8s?page=2", confidence: .high)
            ])
    }

    @Test func `every key changes its setting`() throws {
        let profile = try Profile(text: GoodFiles.everyKey)
        #expect(profile.match == ["Box MIDI 1", "*808*"])
        var expected = OutputSettings(lead: 9_500, locate: 500)
        expected.isClockAlwaysOn = false
        expected.offset = 499_999
        expected.multiply = 16
        expected.divide = 96
        expected.swing = 667
        expected.tempos = try #require(TempoRange(lowest: 60_500, highest: 121_000))
        expected.preroll = 8
        expected.smoothing = 250
        expected.mayStep = false
        expected.start = .continue
        expected.sendsStop = false
        expected.takesContinue = true
        expected.takesSongPosition = false
        expected.realign = .none
        #expect(profile.settings == expected)
        #expect(profile.input.isLeader && profile.input.isRemoteControl && profile.input.echoes)
        #expect(profile.notes.map(\.fact) == ["*blinks*: often, and again", "hums & ? %"])
        #expect(profile.notes.map(\.confidence) == [.medium, .low])
    }

    @Test(arguments: [
        ("{ song-position: false }", OutputSettings.Realign.restart), ("{ continue: false }", .restart),
        ("{ start: none }", .none), ("{ stop: false }", .restart), ("{ start: none, song-position: false }", .none),
        ("{ song-position: false, realign: none }", .none), ("{ realign: restart }", .restart),
    ])
    func `a device is realigned in the best way it supports unless the profile names one`(
        transport: String, realign: OutputSettings.Realign
    ) throws {
        let profile = try Profile(text: "version: 1\nname: Box\ntransport: \(transport)")
        #expect(profile.settings.realign == realign)
    }

    @Test(arguments: [
        ("-2.0", -2_000), ("+.5", 500), ("7.", 7_000), ("-0.001", -1), ("500.0000", 500_000), ("007", 7_000),
    ])
    func `milliseconds are exact to the microsecond`(written: String, microseconds: Int64) throws {
        let profile = try Profile(text: "version: 1\nname: Box\nclock: { offset: \(written) }")
        #expect(profile.settings.offset == microseconds)
    }

    @Test func `text in quotes, in blocks and of digits is text`() throws {
        let profile = try Profile(
            text: """
                version: 1
                name: 808
                match: ['it''s', "caf\\u00e9", true, "null", "? 1"]
                notes:
                  - fact: >-
                      one
                      two
                    source: |
                      a book
                    confidence: "high"
                """)
        #expect(profile.name == "808")
        #expect(profile.match == ["it's", "café", "true", "null", "? 1"])
        #expect(profile.notes.map(\.fact) == ["one two"])
        #expect(profile.notes.map(\.source) == ["a book"])
    }

    @Test func `settings that will not work as written cause a warning`() throws {
        func warnings(_ body: String) throws -> [String] {
            try Profile(text: "version: 1\nname: Box\n\(body)").warnings
        }
        #expect(
            try warnings("clock: { preroll: 4 }") == [
                "'preroll' does nothing with 'when: always'; use 'when: playing' if the device needs it"
            ])
        #expect(try warnings("clock: { preroll: 4, when: playing }").isEmpty)
        #expect(
            try warnings("clock: { range: [30, 300] }\ntransport: { lead: 9.5 }") == [
                "a 'lead' of 9.5 ms is only possible up to 157 BPM; above that, Start leaves late"
            ])
        #expect(try warnings("clock: { range: [30, 150] }\ntransport: { lead: 9.5 }").isEmpty)
        #expect(try warnings("clock: { range: [30, 150], multiply: 2 }\ntransport: { lead: 9.5 }").count == 1)
        #expect(try warnings("transport: { lead: 5 }").isEmpty)
        #expect(try warnings("transport: { lead: 5.1 }").count == 1)
    }
}
