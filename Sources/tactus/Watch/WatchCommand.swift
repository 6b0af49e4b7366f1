import ArgumentParser

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show the status live on the whole terminal, with keys to play.",
        discussion: """
            Keys play, tap, nudge, realign, switch and undo; they are in the last lines. Machines in trouble come first. \
            If the terminal is small, less important columns are left out, and outputs that do not fit are counted. It \
            reconnects when the gateway restarts. Without a terminal it prints one line each second, or with --json \
            the whole status.

            EXAMPLES
              tactus watch
            """)

    @OptionGroup var remote: RemoteOptions

    func run() async throws { try await StatusWatch(client: remote.client, isJSON: remote.json).run() }
}
