import BeatTime
import GatewayStatus
import Glibc
import RealTime

/// `tactus status --watch`: shows what a gateway tells of itself, and passes keys on to it.
struct StatusWatch {
    let client: ControlClient
    /// Whether programs read it.
    let isJSON: Bool

    /// What happens, in the order it happens.
    private enum Event: Sendable {
        /// The gateway has said how it is, to nobody's command or to ours.
        case answered(Status, at: ContinuousClock.Instant, toCommand: Bool)
        /// It has not, or refused a command.
        case failed(String, toCommand: Bool)
        case pressed([UInt8], at: HostTime)
        case frame
        /// The program was stopped, and goes on.
        case resumed
    }

    /// From one attempt to reach the gateway to the next.
    private static let pause = Duration.milliseconds(200)
    private static let frameInterval = Duration.milliseconds(50)
    /// How long the outcome of a key is shown, in frames.
    private static let saidFrames = 80

    /// Watches until the user has seen enough.
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
        let (commands, orders) = AsyncStream<WatchKey>.makeStream(bufferingPolicy: .bufferingNewest(16))
        let screen = FullScreen(on: terminal)
        defer { screen.restore() }
        let keyboard = try screen.hasKeys ? Keyboard { sink.yield(.pressed($0, at: $1)) } : nil
        defer { keyboard?.stop() }
        let tasks = [Task { await listen(sink) }, Task { await obey(commands, sink) }, Task { await Self.tick(sink) }]
        defer { for task in tasks { task.cancel() } }

        var watched = Watched(status: status)
        for await event in events {
            for key in watched.take(event) {
                guard key != .quit else { return }
                orders.yield(key)
            }
            if case .resumed = event { screen.take() }
            if case .frame = event { screen.show(watched.picture(of: "\(client.url)").lines) }
        }
    }

    /// What is known of the gateway, and what the user is to be told.
    private struct Watched {
        var status: Status
        private var known = ContinuousClock.now
        private var trouble: String?
        private var said: String?
        private var framesLeft = 0

        init(status: Status) { self.status = status }

        /// Takes in what has happened.
        ///
        /// - Returns: the keys that were pressed, if they mean something.
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

        /// What is to be seen now of the gateway at an address.
        func picture(of address: String) -> StatusScreen {
            let age = Double(known.duration(to: .now) / .milliseconds(1)) / 1_000
            return StatusScreen(status: status, age: age, trouble: trouble, said: said, address: address)
        }
    }

    /// Reports what the gateway tells, and looks for it again when it has gone.
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

    /// Gives commands one after the other, as they were asked for.
    private func obey(_ commands: AsyncStream<WatchKey>, _ sink: AsyncStream<Event>.Continuation) async {
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

    /// Where nothing can be redrawn: a line each second, or the status as JSON, until nobody reads it any more.
    private func printEverySecond() async throws {
        while true {
            let answer = try await client.ask("status", nil)
            print(isJSON ? answer.json : StatusText.live(answer.status, width: .max))
            guard fflush(nil) == 0 else { return }
            try await Task.sleep(for: .seconds(1))
        }
    }
}
