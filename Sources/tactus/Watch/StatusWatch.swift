import BeatTime
import GatewayStatus
import Glibc
import RealTime

/// `tactus status --watch`: shows a gateway's status, and sends it commands by keys.
struct StatusWatch {
    let client: ControlClient
    /// Whether to print JSON.
    let isJSON: Bool

    /// Events, in order.
    private enum Event: Sendable {
        /// The gateway has sent its status, on its own or as the answer to a command.
        case answered(Status, at: ContinuousClock.Instant, toCommand: Bool)
        /// It does not answer, or refused a command.
        case failed(String, toCommand: Bool)
        case pressed([UInt8], at: HostTime)
        case frame
        /// The program was stopped, and continues.
        case resumed
    }

    /// Time between attempts to reach the gateway.
    private static let pause = Duration.milliseconds(200)
    private static let frameInterval = Duration.milliseconds(50)
    /// Frames for which the result of a key is shown.
    private static let saidFrames = 80

    /// Runs until the user quits.
    ///
    /// - Throws: when nobody answers at first.
    func run() async throws {
        let status = try await client.ask("status", nil).status
        guard let terminal = Terminal(), !isJSON else { return try await printEverySecond() }
        let (events, sink) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(256))
        let signals = try SignalSource([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCONT]) { signal in
            if signal == SIGCONT { sink.yield(.resumed) } else { sink.finish() }
        }
        defer { signals.end() }
        let (commands, commandSink) = AsyncStream<WatchKey>.makeStream(bufferingPolicy: .bufferingNewest(16))
        let screen = FullScreen(on: terminal)
        defer { screen.restore() }
        let keyboard = try screen.hasKeys ? Keyboard { sink.yield(.pressed($0, at: $1)) } : nil
        defer { keyboard?.stop() }
        let tasks = [
            Task { await listen(sink) }, Task { await sendCommands(commands, sink) }, Task { await Self.tick(sink) },
        ]
        defer { for task in tasks { task.cancel() } }

        var watched = Watched(status: status)
        for await event in events {
            for key in watched.take(event) {
                guard key != .quit else { return }
                commandSink.yield(key)
            }
            if case .resumed = event { screen.enter() }
            if case .frame = event { screen.show(watched.picture(of: "\(client.url)").lines) }
        }
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
        mutating func take(_ event: Event) -> [WatchKey] {
            switch event {
            case .answered(let answer, let time, let isToCommand):
                (status, known, trouble) = (answer, time, nil)
                if isToCommand { said = nil }
            case .failed(let reason, false): trouble = reason
            case .failed(let reason, true): (said, framesLeft) = (reason, saidFrames)
            case .pressed(let bytes, let time): return WatchKey.read(bytes, at: time, status)
            case .frame:
                framesLeft -= 1
                if framesLeft <= 0 { said = nil }
            case .resumed: break
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
    private func listen(_ sink: AsyncStream<Event>.Continuation) async {
        while !Task.isCancelled {
            do {
                try await client.watch { sink.yield(.answered($0, at: .now, toCommand: false)) }
            } catch {
                sink.yield(.failed(Self.text(error), toCommand: false))
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Sends commands one after the other, in order.
    private func sendCommands(_ commands: AsyncStream<WatchKey>, _ sink: AsyncStream<Event>.Continuation) async {
        for await case .command(let path, let body) in commands {
            do {
                let answer = try await client.ask(path, body)
                sink.yield(.answered(answer.status, at: .now, toCommand: true))
            } catch {
                sink.yield(.failed(Self.text(error), toCommand: true))
            }
        }
    }

    private static func tick(_ sink: AsyncStream<Event>.Continuation) async {
        while !Task.isCancelled {
            sink.yield(.frame)
            try? await Task.sleep(for: frameInterval)
        }
    }

    private static func text(_ error: any Error) -> String { (error as? Failure)?.text ?? "\(error)" }

    /// Without a terminal to redraw: prints a line each second, or JSON, until nobody reads any more.
    private func printEverySecond() async throws {
        while true {
            let answer = try await client.ask("status", nil)
            print(isJSON ? answer.json : StatusText.live(answer.status, width: .max))
            guard fflush(nil) == 0 else { return }
            try await Task.sleep(for: .seconds(1))
        }
    }
}
