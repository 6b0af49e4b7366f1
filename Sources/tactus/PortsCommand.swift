import ALSASequencer
import ArgumentParser
import Essentials
import Gateway
import SoundCards

struct PortsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ports",
        abstract: "List the MIDI ports and sound cards of this machine, as --output and --follow take them.",
        discussion: """
            EXAMPLES
              tactus ports
              tactus ports --json | jq -r '.[].name'
              tactus ports --cards
            """)

    @Flag(help: "Print them as JSON: the ports, or with --cards the sound cards.")
    var json = false
    @Flag(help: "List only sound cards that can play clock pulses or a click.")
    var cards = false

    func run() throws {
        ALSAComplaints.capture { _ in }  // a card that cannot be opened is shown as in use
        if cards {
            let cards = PlaybackCard.all()
            return print(try json ? JSON.text(cards) : Self.cardTable(cards))
        }
        let ports = try openSequencer { () throws(ALSAError) in try SequencerControl(name: "Tactus Ports").ports() }
            .filter(\.isUsable)
        guard !json else { return print(try Self.json(ports)) }
        print(Self.table(ports))
        let cards = PlaybackCard.all()
        if !cards.isEmpty { print("\n" + Self.cardTable(cards)) }
    }

    static func cardTable(_ cards: [PlaybackCard]) -> String {
        guard !cards.isEmpty else { return "no sound cards; connect one" }
        let rows = cards.map { card in
            ("audio:\(card.device)/", card.channels.map { "1 to \($0)" } ?? "in use", card.name.withoutControls)
        }
        let width = (rows.map(\.0.count).max() ?? 0) + 2
        return ([("SOUND CARD", "CHANNELS", "NAME")] + rows)
            .map { "\($0.0.padded(to: width))\($0.1.padded(to: 10))\($0.2)" }
            .joined(separator: "\n")
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

/// A sound card that can play, as `tactus ports` shows it.
struct PlaybackCard: Encodable, Hashable {
    /// libasound's name of it.
    var device: String
    var name: String
    /// How many channels it has; null while another program uses it.
    var channels: Int?

    static func all() -> [PlaybackCard] {
        SoundDevice.all(for: .playing).filter { $0.device != "default" }.map {
            PlaybackCard(
                device: $0.device, name: $0.name, channels: OpenCard.channelCount(of: $0.device, for: .playing))
        }
    }
}
