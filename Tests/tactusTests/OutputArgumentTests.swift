import ALSASequencer
import ArgumentParser
import Foundation
import Gateway
import Testing

@testable import tactus

@Suite
struct OutputArgumentTests {
    @Test(arguments: [
        ("TR-8S", Destination.name("TR-8S")), ("  TR-8S MIDI 1 ", .name("TR-8S MIDI 1")), ("24", .name("24")),
        ("USB MIDI: Out 2", .name("USB MIDI: Out 2")), ("24:", .name("24:")), ("1:2:3", .name("1:2:3")),
        ("24:0", .number(PortAddress(client: 24, port: 0))), ("191:253", .number(PortAddress(client: 191, port: 253))),
        ("virtual:Drums", .virtual("Drums")), ("virtual: My Drums ", .virtual("My Drums")),
        ("raw:/dev/null", .raw(path: "/dev/null", bitsPerSecond: 31250)),
        ("raw:/dev/not-there-yet@38400", .raw(path: "/dev/not-there-yet", bitsPerSecond: 38400)),
        ("raw:/run/user@host/midi", .raw(path: "/run/user@host/midi", bitsPerSecond: 31250)),
        ("audio:hw:CARD=ES8,DEV=1/3+4", .card("hw:CARD=ES8,DEV=1", channels: [3, 4])),
        ("audio:plughw:CARD=ES8,DEV=0/1", .card("hw:CARD=ES8", channels: [1])),
        ("audio:default/256", .card("default", channels: [256])),
        ("raw:/run/user@host/midi@9600", .raw(path: "/run/user@host/midi", bitsPerSecond: 9600)),
    ])
    func `an output is a name, a number, a port of our own, a line or a sound card`(
        text: String, address: Destination
    ) throws {
        #expect(try Destination(argument: text) == address)
    }

    @Test(arguments: [
        ("", "the name is empty; an example is TR-8S"),
        ("  ", "the name is empty; an example is TR-8S"),
        ("virtual:", "the name is empty; an example is virtual:Drums"),
        ("raw:", "the path is empty; an example is raw:/dev/ttyAMA0"),
        ("raw:@31250", "the path is empty; an example is raw:/dev/ttyAMA0"),
        ("raw:/dev/ttyAMA0@", "the rate after @ is in bits per second, 1 to 4000000, such as 31250"),
        ("raw:/dev/ttyAMA0@0", "the rate after @ is in bits per second, 1 to 4000000, such as 31250"),
        ("raw:/dev/ttyAMA0@fast", "the rate after @ is in bits per second, 1 to 4000000, such as 31250"),
        (
            "raw:/dev/ttyAMA0@99999999999999999999",
            "the rate after @ is in bits per second, 1 to 4000000, such as 31250"
        ),
        ("raw:/", "that is a folder; use a device node, FIFO or serial line such as /dev/ttyAMA0"),
        ("raw:/etc/passwd", "that is an ordinary file; use a device node, FIFO or serial line such as /dev/ttyAMA0"),
        (
            "audio:hw:CARD=ES8",
            "the channel is missing after the card; an example is audio:hw:CARD=ES8/3, or /3+4 for a profile of two lines"
        ),
        (
            "audio:hw:CARD=ES8/0",
            "channels are numbers from 1 to 256; an example is audio:hw:CARD=ES8/3, or /3+4 for a profile of two lines"
        ),
        (
            "audio:hw:CARD=ES8/3+",
            "channels are numbers from 1 to 256; an example is audio:hw:CARD=ES8/3, or /3+4 for a profile of two lines"
        ),
        ("audio:hw:CARD=ES8/3+3", "a channel is named twice"),
        ("192:0", "a sequencer port is 0:0 to 191:253; 'tactus ports' lists them"),
        ("24:254", "a sequencer port is 0:0 to 191:253; 'tactus ports' lists them"),
        ("99999999999999999999:0", "a sequencer port is 0:0 to 191:253; 'tactus ports' lists them"),
        ("TR-8S=", "write the name of a profile after =, such as roland-tr-8s"),
        ("=roland-tr-8s", "the name is empty; an example is TR-8S"),
    ])
    func `a wrong output is reported with the correction`(text: String, reason: String) {
        #expect(throws: BadArgument(reason)) { try OutputArgument(argument: text) }
    }

    @Test(
        arguments: [
            ("TR-8S=roland-tr-8s", .name("TR-8S"), "roland-tr-8s"),
            ("24:0=generic", .number(PortAddress(client: 24, port: 0)), "generic"),
            ("virtual:A=B=looper", .virtual("A=B"), "looper"),
            (
                "raw:/dev/ttyAMA0@31250=din-sync-converter", .raw(path: "/dev/ttyAMA0", bitsPerSecond: 31250),
                "din-sync-converter"
            ),
            ("Synth = left", .name("Synth = left"), nil),
            ("raw:/tmp/a=b/midi", .raw(path: "/tmp/a=b/midi", bitsPerSecond: 31250), nil),
        ] as [(String, Destination, String?)])
    func `text after the last = names a profile, if it can`(
        text: String, address: Destination, profile: String?
    ) throws {
        let output = try OutputArgument(argument: text)
        #expect(output.destination == address)
        #expect(output.profile == profile)
    }

    @Test
    func `an output is given a name by its port`() throws {
        #expect(try OutputName(argument: "UM-ONE= Bass ") == OutputName(destination: .name("UM-ONE"), name: "Bass"))
        #expect(try OutputName(argument: "raw:/dev/a=b=Бас").name == "Бас")
        for wrong in ["Bass", "UM-ONE=", "UM-ONE=\u{7}", "UM-ONE=" + String(repeating: "a", count: 64)] {
            #expect(throws: BadArgument.self) { try OutputName(argument: wrong) }
        }
        let run = ["run", "--output", "UM-ONE=korg-volca", "--output", "virtual:A"]
        let named = try #require(try Tactus.parseAsRoot(run + ["--name", "um-one=Bass"]) as? Run)
        #expect(try Setup(named).liveConfiguration().outputs.outputs.map(\.name) == ["Bass", nil])
        for wrong in ["MC=Bass", "virtual:A=Bass", "UM-ONE=Clock"] {
            #expect(throws: (any Error).self) { try Tactus.parseAsRoot(run + ["--name", wrong]) }
        }
    }

    @Test
    func `a FIFO is a raw line`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "tactus-fifo-\(UUID())").path()
        try #require(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        #expect(try Destination(argument: "raw:\(path)") == .raw(path: path, bitsPerSecond: 31250))
    }
}
