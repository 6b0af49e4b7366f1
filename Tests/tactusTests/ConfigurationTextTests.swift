import ConfigurationFiles
import Foundation
import MIDIClock
import Testing

@testable import tactus

/// How `tactus learn --save` changes configuration files.
@Suite
struct ConfigurationTextTests {
    private func control(_ verb: Control.Verb, note: Int = 60, port: String = "FCB1010") -> Control {
        Control(
            port: Placed(port, at: Place(file: "", line: 1, column: 1)),
            message: Control.Message(.note, note, channel: 2), verb: verb)
    }

    @Test
    func `a control that alternates says so, and is another than one that does not`() throws {
        var latching = control(.tap)
        latching.isLatching = true
        let text = try #require(try ConfigurationText.adding(latching, to: "version: 1\n", file: "config.yaml"))
        #expect(text.hasSuffix("do: tap, latching: true }\n"))
        #expect(try ConfigurationText.adding(latching, to: text, file: "config.yaml") == nil)
        let failure = #expect(throws: Failure.self) {
            try ConfigurationText.adding(control(.tap), to: text, file: "config.yaml")
        }
        #expect(failure?.text.contains("already set to tap, latching") == true)
    }

    @Test
    func `a program that sets a tempo is written with both and its channel, and has one tempo`() throws {
        var song = control(.tempo)
        (song.message, song.tempo) = (Control.Message(.program, 3, channel: 10), 128_500)
        let text = try #require(try ConfigurationText.adding(song, to: "version: 1\n", file: "config.yaml"))
        #expect(text.hasSuffix("message: { program: 3, channel: 10 }, do: tempo, tempo: 128.5 }\n"))
        #expect(try ConfigurationText.adding(song, to: text, file: "config.yaml") == nil)
        let list =
            "version: 1\ncontrols:\n"
            + "  - { port: FCB1010, message: { programs: { 3: 120 }, channel: 10 }, do: tempo }\n"
        let failure = #expect(throws: Failure.self) {
            try ConfigurationText.adding(song, to: list, file: "config.yaml")
        }
        #expect(failure?.text.contains("already set to tempo 120;") == true)
    }

    @Test
    func `bars are written with the verb, and another number of them is another control`() throws {
        var pedal = control(.enter)
        pedal.bars = 4
        let text = try #require(try ConfigurationText.adding(pedal, to: "version: 1\n", file: "config.yaml"))
        #expect(text.hasSuffix("do: enter, bars: 4 }\n"))
        #expect(try ConfigurationText.adding(pedal, to: text, file: "config.yaml") == nil)
        pedal.bars = 8
        let failure = #expect(throws: Failure.self) {
            try ConfigurationText.adding(pedal, to: text, file: "config.yaml")
        }
        #expect(failure?.text.contains("already set to enter 4;") == true)
    }

    private static let item = #"- { port: "FCB1010", message: { note: 60, channel: 2 }, do: tap }"#

    @Test(arguments: [
        ("", "version: 1\ncontrols:\n  ITEM\n"),
        ("# version: 1\n\n#osc:\n", "version: 1\n# version: 1\n\n#osc:\ncontrols:\n  ITEM\n"),
        ("version: 1\n", "version: 1\ncontrols:\n  ITEM\n"),
        ("version: 1", "version: 1\ncontrols:\n  ITEM\n"),
        ("version: 1\ncontrols: [] # feet\nosc:\n", "version: 1\ncontrols: # feet\n  ITEM\nosc:\n"),
        ("controls:\nversion: 1\n", "controls:\n  ITEM\nversion: 1\n"),
        (
            "controls:\n# left\n- { port: A, message: { program: 1 }, do: play }\n\n# about Link\nlink:\n  quantum: 3\nversion: 1\n",
            "controls:\n# left\n- { port: A, message: { program: 1 }, do: play }\nITEM\n\n# about Link\nlink:\n  quantum: 3\nversion: 1\n"
        ),
        (
            "version: 1\ncontrols:\n    - port: A\n      message: { program: 1 }\n      # so\n      do: play   # it\n",
            "version: 1\ncontrols:\n    - port: A\n      message: { program: 1 }\n      # so\n      do: play   # it\n    ITEM\n"
        ),
    ])
    func `a control is added to the others, and nothing else is changed`(before: String, after: String) throws {
        let text = try ConfigurationText.adding(control(.tap), to: before, file: "config.yaml")
        #expect(text == after.replacing("ITEM", with: Self.item))
    }

    @Test(arguments: [
        "version: 1\ncontrols: [{ port: A, message: { program: 1 }, do: play }]\n",
        "{ version: 1 }\n",
        "version: 1\n\"controls\":\n- { port: A, message: { program: 1 }, do: play }\n",
    ])
    func `a file of unusual form is left alone, and the line is printed`(text: String) {
        let failure = #expect(throws: Failure.self) {
            try ConfigurationText.adding(control(.tap), to: text, file: "config.yaml")
        }
        #expect(failure?.status == .badFile)
        #expect(failure?.text.contains(Self.item) == true)
    }

    @Test
    func `an existing control is not added again, and a button is not used twice`() throws {
        let text = "version: 1\ncontrols:\n  \(Self.item)\n"
        #expect(try ConfigurationText.adding(control(.tap, port: "fcb1010"), to: text, file: "config.yaml") == nil)
        let failure = #expect(throws: Failure.self) {
            try ConfigurationText.adding(control(.play), to: text, file: "config.yaml")
        }
        #expect(failure?.text.contains("config.yaml:3:") == true)
        #expect(failure?.text.contains("tap") == true)
    }

    @Test(arguments: ["a \"quoted\" \\ port: #1", "Ünïcode 🎹", "[odd]", "- x"])
    func `any name of a port is written so that it is read back`(name: String) throws {
        let text = try #require(
            try ConfigurationText.adding(control(.stop, port: name), to: "version: 1\n", file: "config.yaml"))
        let file = try ConfigurationFile(yaml: Array(text.utf8), file: "config.yaml")
        #expect(file.controls.map(\.port.value) == [name])
        #expect(file.controls.map(\.message) == [control(.stop).message])
    }

    @Test
    func `a missing file is created, an existing one keeps its rights, and a link stays a link`() throws {
        let folder = URL.temporaryDirectory.appending(path: "tactus-\(UUID())/config").path()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (path, link) = ("\(folder)/config.yaml", "\(folder)/link.yaml")
        try ConfigurationText.add(control(.tap), to: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        try ConfigurationText.add(control(.play, note: 61), to: link)
        #expect(try ConfigurationFile(contentsOf: path).controls.map(\.verb) == [.tap, .play])
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
    }

    @Test
    func `an invalid file is not written to`() throws {
        let path = URL.temporaryDirectory.appending(path: "tactus-\(UUID()).yaml").path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try "version: 1\nlonk: {}\n".write(toFile: path, atomically: false, encoding: .utf8)
        let failure = #expect(throws: Failure.self) { try ConfigurationText.add(control(.tap), to: path) }
        #expect(failure?.text.contains("lonk") == true)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "version: 1\nlonk: {}\n")
    }
}
