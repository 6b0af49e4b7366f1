import ArgumentParser
import Foundation

struct PortsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ports", abstract: "List the MIDI ports of this machine, as --output takes them.")

    @Flag(help: "Print the ports as JSON.")
    var json = false

    func run() throws {
        throw Failure(.system, "the sequencer is not reached yet")
    }
}
