import BeatTime
import Gateway
import GatewayStatus

/// `tactus watch`: shows a gateway's status, and sends it commands by keys.
struct StatusWatch {
    let client: ControlClient
    /// Whether to print JSON.
    let isJSON: Bool

    /// What the tasks report.
    private enum News: Sendable {
        /// The gateway has sent its status by itself.
        case told(Status, at: ContinuousClock.Instant)
        /// It has obeyed a command; the text is what the user should know of that.
        case obeyed(Status, at: ContinuousClock.Instant, String?)
        /// It does not answer, or refused a command.
        case failed(String, toCommand: Bool)
    }

    /// Time between attempts to reach the gateway.
    private static let pause = Duration.milliseconds(200)
    /// Frames for which the result of a key is shown.
    private static let saidFrames = 80

    /// Runs until the user quits.
    ///
    /// - Throws: when nobody answers at first.
    func run() async throws {
        let status = try await client.ask("status", nil).status
        guard let terminal = Terminal(), !isJSON else {
            return try await printEverySecond {
                let answer = try await client.ask("status", nil)
                return isJSON ? answer.json : StatusText.live(answer.status, width: .max)
            }
        }
        let (commands, commandSink) = AsyncStream<WatchKey>.makeStream(bufferingPolicy: .bufferingNewest(16))
        var watched = Watched(status: status)
        try await LiveScreen.run(
            on: terminal,
            [
                { @Sendable report in await listen(report) },
                { @Sendable report in await sendCommands(commands, report) },
            ],
            take: { event in
                let keys = watched.take(event)
                for key in keys { commandSink.yield(key) }
                return !keys.contains(.quit)
            },
            lines: { watched.picture(of: "\(client.url)").lines($0) })
    }

    /// What is known of the gateway, and the message to the user.
    private struct Watched {
        var status: Status
        private var known = ContinuousClock.now
        private var trouble: String?
        private var said: String?
        private var framesLeft = 0

        init(status: Status) { self.status = status }

        /// Processes an event.
        ///
        /// - Returns: the pressed keys that have a meaning.
        mutating func take(_ event: LiveScreen<News>.Event) -> [WatchKey] {
            switch event {
            case .news(.told(let answer, let time)): (status, known, trouble) = (answer, time, nil)
            case .news(.obeyed(let answer, let time, let result)):
                (status, known, trouble) = (answer, time, nil)
                (said, framesLeft) = (result, saidFrames)
            case .news(.failed(let reason, false)): trouble = reason
            case .news(.failed(let reason, true)): (said, framesLeft) = (reason, saidFrames)
            case .pressed(let bytes, let time): return WatchKey.read(bytes, at: time, status)
            case .frame:
                framesLeft -= 1
                if framesLeft <= 0 { said = nil }
            }
            return []
        }

        /// The screen for a gateway at an address.
        func picture(of address: String) -> StatusScreen {
            let age = Double(known.duration(to: .now) / .milliseconds(1)) / 1_000
            return StatusScreen(status: status, age: age, trouble: trouble, said: said, address: address)
        }
    }

    /// Reports the gateway's status, and looks for it again when it has gone.
    private func listen(_ report: @escaping @Sendable (News) -> Void) async {
        while !Task.isCancelled {
            do {
                try await client.watch { report(.told($0, at: .now)) }
            } catch {
                report(.failed(Failure.text(of: error), toCommand: false))
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Sends commands one after the other, in order.
    private func sendCommands(_ commands: AsyncStream<WatchKey>, _ report: @Sendable (News) -> Void) async {
        for await case .command(let command) in commands {
            do {
                // The answer to an undo only tells what the next one would do.
                let undo = command == .undo ? try await client.ask("status", nil).status.undo : nil
                let answer = try await client.give(command).status
                let tap = if case .tap = command { StatusText.tap(answer) } else { nil as String? }
                report(.obeyed(answer, at: .now, undo.map { "undone: \($0)" } ?? tap))
            } catch {
                report(.failed(Failure.text(of: error), toCommand: true))
            }
        }
    }
}
