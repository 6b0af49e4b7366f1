import ArgumentParser
import ControlServer
import Gateway
import GatewayStatus

/// Options for which gateway a command talks to, and how to show the answer.
struct RemoteOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Where the gateway is. (default: \(ControlURL.standard))", valueName: "url"),
        transform: ControlURL.init(argument:))
    var url = ControlURL.standard

    @Option(
        help: ArgumentHelp(
            "A file with the gateway's token, if it wants one.", valueName: "file"))
    var tokenFile: String?

    @Flag(help: "Print the answer, or the error, as JSON.")
    var json = false

    /// Asks the gateway at a path, and prints the resulting status.
    func ask(_ path: String, _ body: String? = nil, describe: (Status) -> String) async throws {
        let answer = try await client.ask(path, body)
        print(json ? answer.json : describe(answer.status))
    }

    /// Gives the gateway a command, and prints the resulting status.
    func give(_ command: Command, describe: (Status) -> String) async throws {
        let answer = try await client.give(command)
        print(json ? answer.json : describe(answer.status))
    }

    /// Asks the gateway for its status.
    func status() async throws -> Status { try await client.ask("status", nil).status }

    /// The client for the chosen gateway.
    var client: ControlClient {
        get throws {
            guard let tokenFile else { return ControlClient(url: url, sockets: ControlSockets.toward(url)) }
            return ControlClient(url: url, token: try TokenFile(tokenFile).token.get())
        }
    }
}
