import ALSASequencer
import ArgumentParser
import Essentials
import Gateway

struct PortsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ports", abstract: "List the MIDI ports of this machine, as --output and --follow take them.",
        discussion: """
            EXAMPLES
              tactus ports
              tactus ports --json | jq -r '.[].name'
            """)

    @Flag(help: "Print the ports as JSON.")
    var json = false

    func run() throws {
        let ports = try openSequencer { () throws(ALSAError) in try SequencerControl(name: "Tactus Ports").ports() }
            .filter(\.isUsable)
        print(try json ? Self.json(ports) : Self.table(ports))
    }

    static func table(_ ports: [PortDescription]) -> String {
        guard !ports.isEmpty else { return "no MIDI ports; connect a device" }
        let rows = ports.map { port in
            (
                port.address.description, port.isWritable ? "yes" : "-", port.isReadable ? "yes" : "-",
                "\(port.clientName):\(port.portName)".withoutControls
            )
        }
        return ([("PORT", "TAKES", "SENDS", "NAME")] + rows)
            .map { "\($0.0.padded(to: 8))\($0.1.padded(to: 7))\($0.2.padded(to: 7))\($0.3)" }
            .joined(separator: "\n")
    }

    static func json(_ ports: [PortDescription]) throws -> String { try JSON.text(Port.all(ports)) }
}
