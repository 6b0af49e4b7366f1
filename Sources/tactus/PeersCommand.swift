import ArgumentParser
import Essentials
import Gateway
import GatewayStatus
import HTTPTypes

struct PeersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers", abstract: "List the Link peers that the gateway hears, and who changed the session last.",
        discussion: """
            A peer is one program with Link. SESSION is "ours" or another session's ID. TEMPO is what it announces. \
            ROUND TRIP is how long a message takes to the peer and back; it is known only for peers whose clock Tactus \
            has measured. PROGRAM is known only for programs on the gateway's computer, if the system shows them.

            EXAMPLES
              tactus peers
              tactus peers --watch
              tactus peers --json | jq length
            """)

    @Flag(help: "Keep showing them, with a new list each second.") var watch = false
    @OptionGroup var remote: RemoteOptions

    func run() async throws {
        let client = try remote.client
        let first = try await Self.ask(client)
        guard watch else { return print(try text(first)) }
        guard let terminal = Terminal(), !remote.json else {
            return try await printEverySecond { try text(await Self.ask(client)) }
        }
        var screen = PeersScreen(answer: first)
        try await LiveScreen<Result<Answer, any Error>>.run(
            on: terminal,
            [
                { @Sendable report in
                    while true {
                        do { try await Task.sleep(for: .seconds(1)) } catch { return }
                        do { report(.success(try await Self.ask(client))) } catch { report(.failure(error)) }
                    }
                }
            ],
            take: { event in
                switch event {
                case .news(.success(let answer)): screen = PeersScreen(answer: answer)
                case .news(.failure(let error)): screen.trouble = Failure.text(of: error)
                case .pressed(let bytes, _): return !WatchKey.quits(bytes)
                case .frame: break
                }
                return true
            },
            lines: { screen.lines($0) })
    }

    /// The peers, and the last change.
    struct Answer: Sendable {
        var peers: [SessionPeer]
        var change: Status.Change?
    }

    private static func ask(_ client: ControlClient) async throws -> Answer {
        let peers: (value: [SessionPeer], json: String) = try await client.answer(.get, "peers")
        let status = try await client.ask("status", nil).status
        return Answer(
            peers: client.url.isLoopback ? peers.value.namingPrograms() : peers.value, change: status.link.lastChange)
    }

    private func text(_ answer: Answer) throws -> String {
        try remote.json ? JSON.text(answer.peers) : PeersText.lines(answer).joined(separator: "\n")
    }
}

/// The peers as a full screen.
struct PeersScreen {
    var answer: PeersCommand.Answer
    /// Why there is no newer answer.
    var trouble: String?

    /// The lines of a screen, at most its number of rows.
    func lines(_ size: Terminal.Size) -> [Line] {
        let head = trouble.map { [Line($0, .bad)] } ?? []
        let foot = PeersText.lastChange(answer).map { Line($0) } + ["", Line("q quit", .faint)]
        let table = Line.cut(PeersText.table(answer.peers).map { Line($0) }, to: size.rows - head.count - foot.count)
        return (head + table + foot).suffix(max(0, size.rows)).map { $0.clipped(to: size.columns) }
    }
}

/// The peers as text for people.
enum PeersText {
    static func lines(_ answer: PeersCommand.Answer) -> [String] {
        (table(answer.peers) + lastChange(answer)).map(\.withoutControls)
    }

    /// The last change below an empty line; nothing if there is none.
    static func lastChange(_ answer: PeersCommand.Answer) -> [String] {
        answer.change.map { ["", "last change: \(text($0))"] } ?? []
    }

    static func table(_ peers: [SessionPeer]) -> [String] {
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

    /// A change in a few words, such as `tempo 120, probably by 10.0.0.2 (node 4a...), at 2026-...`.
    static func text(_ change: Status.Change) -> String {
        let (value, previous) = (decimals(change.value), decimals(change.previous))
        let peer = "\(change.address ?? "-") (node \(change.node ?? "-"))"
        let who = change.origin == .here ? "by this gateway" : "\(change.probable ? "probably " : "")by \(peer)"
        var parts =
            switch change.what {
            case .tempo: ["tempo \(value)", who]
            case .play, .stop: [change.what.rawValue, who]
            case .joined where change.origin == .unknown:
                ["joined session \(change.session ?? "-"), whose founder has left: tempo \(previous) to \(value)"]
            case .joined: ["joined the session of \(peer): tempo \(previous) to \(value)"]
            }
        if !change.followed { parts.append("not followed") }
        return (parts + ["at \(change.at)"]).joined(separator: ", ")
    }

    private static func decimals(_ tempo: Double?) -> String { tempo.map { StatusText.decimals($0) } ?? "-" }
}
