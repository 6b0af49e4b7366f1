import ConfigurationFiles
import Foundation
import GatewayStatus
import MIDIClock
import Testing

@testable import tactus

@Suite
struct OwnProfileTests {
    @Test(arguments: [
        ("version: 1\nname: X\n", "version: 1\nname: X\nclock:\n  offset: -3.25\n"),
        (
            "version: 1\nname: X\nclock:\n  # late\n  offset: -1.5  # by ear\n  swing: 60\n",
            "version: 1\nname: X\nclock:\n  # late\n  offset: -3.25  # by ear\n  swing: 60\n"
        ),
        (
            "version: 1\nname: X\nclock:\n    swing: 60\ntransport:\n    lead: 2\n",
            "version: 1\nname: X\nclock:\n    offset: -3.25\n    swing: 60\ntransport:\n    lead: 2\n"
        ),
        (
            "version: 1\nname: X\nclock: { swing: 60 }\n", "version: 1\nname: X\nclock: { offset: -3.25, swing: 60 }\n"
        ),
        (
            "version: 1\nname: X\nclock: { offset: 4, swing: 60 }\n",
            "version: 1\nname: X\nclock: { offset: -3.25, swing: 60 }\n"
        ),
    ])
    func `an offset replaces the profile's, and everything else stays`(old: String, new: String) throws {
        #expect(OwnProfile.setting(-3.25, in: old) == new)
        #expect(try Profile(yaml: Array(new.utf8), file: "x.yaml").settings.offset == -3_250)
    }

    private func withFolders(
        _ installed: String, _ body: (_ installed: String, _ own: String) throws -> Void
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tactus-own-\(UUID())").path()
        try FileManager.default.createDirectory(atPath: "\(folder)/installed", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try installed.write(toFile: "\(folder)/installed/drum.yaml", atomically: false, encoding: .utf8)
        try body("\(folder)/installed", "\(folder)/own/profiles")
    }

    @Test
    func `a built-in profile is copied to the user's own, which wins`() throws {
        let text = "version: 1\nname: Drum\nmatch: [Drum MIDI 1]  # the first port\nclock:\n  swing: 60\n"
        try withFolders(text) { installed, own in
            let library = ProfileLibrary(folders: [installed, own])
            let path = try OwnProfile(id: "drum", name: "Drum", port: nil, folder: own, library: library)
                .keep(offset: -3.25)
            #expect(path == "\(own)/drum.yaml")
            let now = try ProfileLibrary(folders: [installed, own]).profile(id: "drum")
            #expect(now.settings.offset == -3_250)
            #expect(now.settings.swing == 600)
            #expect(now.match == ["Drum MIDI 1"])
            #expect(try String(contentsOfFile: path, encoding: .utf8).contains("# the first port"))
            #expect(try String(contentsOfFile: "\(installed)/drum.yaml", encoding: .utf8) == text)
        }
    }

    @Test
    func `a device without a profile gets one that recognizes it`() throws {
        try withFolders("version: 1\nname: Other\n") { installed, own in
            _ = try OwnProfile(
                id: "usb-midi", name: "USB MIDI", port: #"USB "MIDI": 1"#, folder: own,
                library: ProfileLibrary(folders: [installed])
            ).keep(offset: 2)
            let library = ProfileLibrary(folders: [installed, own])
            #expect(library.mistakes.isEmpty)
            #expect(library.profile(portName: #"USB "MIDI": 1"#, clientName: "USB")?.settings.offset == 2_000)
        }
    }

    @Test
    func `the last folder that the gateway was given has the profile, which wins there`() throws {
        try withFolders("version: 1\nname: Other\n") { installed, own in
            try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
            let output = Status.Output(
                id: "usb-midi", name: "USB MIDI", profile: nil, port: "24:0", connected: true, enabled: true, ticks: 0,
                lateTicks: 0, offsetMilliseconds: 0, multiply: 1, divide: 1, swing: 50, latenessMicroseconds: nil)
            func save(_ offset: Double, _ folders: [String]) throws -> String {
                try OwnProfile(for: output, recognisedBy: "USB MIDI 1", adding: folders).keep(offset: offset)
            }
            #expect(try save(2, [installed, "\(own)/"]) == "\(own)/usb-midi.yaml")
            #expect(try save(3, [own, installed]) == "\(installed)/usb-midi.yaml")
            let profile = try ProfileLibrary(folders: [own, installed]).profile(id: "usb-midi")
            #expect(profile.settings.offset == 3_000)
            let file = "\(installed)/drum.yaml"
            let failure = #expect(throws: Failure.self) { _ = try save(4, [file]) }
            let told = failure?.text ?? ""
            #expect(told.hasPrefix("\(file)/usb-midi.yaml cannot be written: "), "\(told)")
            #expect(told.hasSuffix("start the gateway with --profiles and a folder that its user may write to"))
        }
    }

    @Test
    func `a profile of unusual form is left alone`() throws {
        try withFolders("version: 1\nname: \"Drum\nclock:\"\nclock:\n  \"offset\": 2\n") { installed, own in
            let library = ProfileLibrary(folders: [installed])
            let profile = OwnProfile(id: "drum", name: "Drum", port: nil, folder: own, library: library)
            let failure = #expect(throws: Failure.self) { _ = try profile.keep(offset: 1) }
            #expect(failure?.status == .badFile)
            #expect(!FileManager.default.fileExists(atPath: "\(own)/drum.yaml"))
        }
    }
}
