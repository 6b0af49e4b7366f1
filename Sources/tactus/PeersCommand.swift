import ArgumentParser
import Essentials
import GatewayStatus
import Glibc
import HTTPTypes
import RealTime

struct PeersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers", abstract: "List the Link peers that the gateway hears, and who changed the session last.",
        discussion: """
            A peer is one program with Link. SESSION is "ours" or another session's ID; TEMPO is what the peer announces. \
            The round trip is known of the peer through which the session's clock is measured, and of others that \
            were measured before. Programs on the gateway's computer are named where the system lets you see them.

            EXAMPLES
              tactus peers
              tactus peers --watch
              tactus peers --json | jq '.[].address'
            """)

    @Flag(help: "Keep showing them, with a new list each second.") var watch = false
    @OptionGroup var remote: RemoteOptions

    func run() async throws {
        let client = try remote.client
        let first = try await Self.ask(client)
        guard watch else { return print(try text(first)) }
        if let terminal = Terminal(), !remote.json {
            try await show(on: terminal, first, client)
        } else {
            try await printEverySecond(client)
        }
    }

    /// The peers, and the last change.
    struct Answer: Sendable {
        var peers: [SessionPeer]
        var change: Status.Change?
    }

    private static func ask(_ client: ControlClient) async throws -> Answer {
        let peers: (value: [SessionPeer], json: String) = try await client.answer(.get, "peers")
        let status = try await client.ask("status", nil).status
        return Answer(peers: client.url.isLoopback ? named(peers.value) : peers.value, change: status.link.lastChange)
    }

    /// Names the programs that the gateway could not see, such as from inside a service.
    private static func named(_ peers: [SessionPeer]) -> [SessionPeer] {
        let unnamed = peers.filter { $0.local && $0.program == nil }
        let ports = unnamed.compactMap { $0.port.flatMap { UInt16(exactly: $0) } }
        guard !ports.isEmpty else { return peers }
        let programs = PortHolders.programs(holding: Set(ports), SystemTree(root: "/"))
        return peers.map { peer in
            var peer = peer
            if peer.local, peer.program == nil, let port = peer.port.flatMap({ UInt16(exactly: $0) }) {
                peer.program = programs[port]?.first?.name
            }
            return peer
        }
    }

    private func text(_ answer: Answer) throws -> String {
        try remote.json ? JSON.text(answer.peers) : PeersText.lines(answer).joined(separator: "\n")
    }

    private func printEverySecond(_ client: ControlClient) async throws {
        while true {
            print(try text(await Self.ask(client)))
            guard fflush(nil) == 0 else { return }
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// Fills the terminal until the user ends it with Ctrl-C or q.
    private func show(on terminal: Terminal, _ first: Answer, _ client: ControlClient) async throws {
        let (turns, sink) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingNewest(16))
        let signals = try SignalSource([SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { _ in sink.finish() }
        defer { signals.end() }
        let screen = FullScreen(on: terminal)
        defer { screen.restore() }
        let keyboard =
            try screen.hasKeys
            ? Keyboard { keys, _ in if keys.contains(UInt8(ascii: "q")) { sink.finish() } } : nil
        defer { keyboard?.stop() }
        let timer = Task {
            while !Task.isCancelled {
                sink.yield(true)
                try? await Task.sleep(for: .seconds(1))
            }
        }
        defer { timer.cancel() }
        var lines = PeersText.lines(first)
        for await _ in turns {
            do {
                lines = PeersText.lines(try await Self.ask(client))
            } catch {
                lines = [(error as? Failure)?.text ?? "\(error)"]
            }
            let shown = lines + ["", "q ends"]
            screen.show { size in shown.prefix(size.rows).map { Line(String($0.prefix(size.columns))) } }
        }
    }
}

/// The peers as text for people.
enum PeersText {
    static func lines(_ answer: PeersCommand.Answer) -> [String] {
        var lines = table(answer.peers)
        if let change = answer.change { lines += ["", "last change: \(text(change))"] }
        return lines.map(\.withoutControls)
    }

    private static func table(_ peers: [SessionPeer]) -> [String] {
        guard !peers.isEmpty else { return ["no Link peers"] }
        let heading = ["ADDRESS", "INTERFACE", "PROGRAM", "TEMPO", "SESSION", "ROUND TRIP", "SINCE", "NODE"]
        let rows = [heading] + peers.map(row)
        let widths = heading.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.indices.map { $0 == row.count - 1 ? row[$0] : row[$0].padded(to: widths[$0] + 2) }.joined()
        }
    }

    private static func row(_ peer: SessionPeer) -> [String] {
        [
            peer.address, Set(peer.interfaces.map { $0.name ?? $0.address }).sorted().joined(separator: ","),
            peer.program ?? "-",
            StatusText.decimals(peer.tempo), peer.together ? "ours" : peer.session,
            peer.roundTripMicroseconds.map(spokenDuration) ?? "-", peer.since, peer.node,
        ]
    }

    /// A change in a few words, such as `tempo 120 by 10.0.0.2 (node 4a...), probably`.
    static func text(_ change: Status.Change) -> String {
        let what =
            switch change.what {
            case .tempo: "tempo \(change.value.map { StatusText.decimals($0) } ?? "-")"
            case .play: "play"
            case .stop: "stop"
            case .joined:
                "joined session \(change.session ?? "-"), tempo \(change.previous.map { StatusText.decimals($0) } ?? "-") to "
                    + "\(change.value.map { StatusText.decimals($0) } ?? "-")"
            }
        let who =
            switch change.origin {
            case .here: "here"
            case .unknown: "by an unknown peer"
            case .peer:
                (change.what == .joined ? "of " : "by ") + "\(change.address ?? "-") (node \(change.node ?? "-"))"
            }
        var parts = ["\(what) \(who)"]
        if change.probable, change.origin == .peer { parts.append("probably") }
        if !change.followed { parts.append("not followed") }
        return (parts + ["at \(change.at)"]).joined(separator: ", ")
    }
}
