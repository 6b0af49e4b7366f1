import ALSASequencer
import ArgumentParser
import ConfigurationFiles
import Gateway
import GatewayStatus

/// What shells offer that only this computer or its gateway knows; nothing where that cannot be asked.
extension CompletionKind {
    /// Profiles, as 'tactus profiles list' names them.
    static var profile: Self {
        .custom { _, _, _ in ProfileLibrary(adding: []).profiles.map(\.id) }
    }

    /// The gateway's outputs, as 'tactus status' names them.
    static var output: Self {
        .custom { words, _, _ in
            let option = "--url"
            let next = words.firstIndex(of: option).flatMap { words.dropFirst($0 + 1).first }
            let joined = words.first { $0.hasPrefix("\(option)=") }.map { String($0.dropFirst(option.count + 1)) }
            var url = ControlURL.standard
            if let text = next ?? joined {
                guard let named = try? ControlURL(argument: text) else { return [] }
                url = named
            }
            let client = ControlClient(url: url, sockets: ControlSockets.toward(url), timeout: 1)
            return (try? await client.ask("status", nil).status.outputs.map(\.id)) ?? []
        }
    }

    /// Ports that take messages, as 'tactus ports' lists them.
    static var takingPort: Self { port([]) { $0.isWritable } }

    /// Ports that send messages, as 'tactus ports' lists them, and other words that may stand for one.
    static func sendingPort(or others: String...) -> Self { port(others) { $0.isReadable } }

    private static func port(_ others: [String], _ isFit: @escaping @Sendable (PortDescription) -> Bool) -> Self {
        .custom { _, _, _ in
            ALSAComplaints.capture { _ in }
            let all = (try? SequencerControl(name: "Tactus Ports").ports()) ?? []
            let ports = all.filter { $0.isUsable && isFit($0) }
            return others + ports.map { $0.plainestName(among: ports) }
        }
    }
}
