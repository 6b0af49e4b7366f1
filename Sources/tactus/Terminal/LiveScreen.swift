import BeatTime
import Glibc
import RealTime

/// A full screen that shows news and takes keys until the user quits, as `tactus watch` does.
enum LiveScreen<News: Sendable> {
    enum Event: Sendable {
        case news(News)
        case pressed([UInt8], at: HostTime)
        /// The screen is about to be redrawn.
        case frame
    }

    /// A task that reports news until it is canceled.
    typealias Source = @Sendable (_ report: @escaping @Sendable (News) -> Void) async -> Void

    private enum Input: Sendable {
        case event(Event)
        /// The program was stopped, and continues.
        case resumed
    }

    /// Runs until the user quits, by a key or a signal.
    ///
    /// - Parameters:
    ///   - terminal: the screen, and where the keys come from.
    ///   - sources: where news comes from.
    ///   - take: processes an event; false quits.
    ///   - lines: the screen for a size; asked for at each frame.
    /// - Throws: if the keys or signals cannot be read.
    static func run(
        on terminal: Terminal, _ sources: [Source], take: (Event) -> Bool, lines: (Terminal.Size) -> [Line]
    ) async throws {
        let (inputs, sink) = AsyncStream<Input>.makeStream(bufferingPolicy: .bufferingNewest(256))
        let signals = try SignalSource([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCONT]) { signal in
            if signal == SIGCONT { sink.yield(.resumed) } else { sink.finish() }
        }
        defer { signals.end() }
        let screen = FullScreen(on: terminal)
        defer { screen.restore() }
        let keyboard = try screen.hasKeys ? Keyboard { sink.yield(.event(.pressed($0, at: $1))) } : nil
        defer { keyboard?.stop() }
        let ticks = Task {
            while !Task.isCancelled {
                sink.yield(.event(.frame))
                try? await Task.sleep(for: .milliseconds(50))
            }
        }
        let tasks = [ticks] + sources.map { source in Task { await source { sink.yield(.event(.news($0))) } } }
        defer { for task in tasks { task.cancel() } }
        for await input in inputs {
            switch input {
            case .resumed: screen.enter()
            case .event(let event):
                guard take(event) else { return }
                if case .frame = event { screen.show(lines) }
            }
        }
    }
}

/// Prints a text each second until nobody reads any more: what there is to watch, without a terminal to redraw.
func printEverySecond(_ text: () async throws -> String) async throws {
    while true {
        print(try await text())
        guard fflush(nil) == 0 else { return }
        try await Task.sleep(for: .seconds(1))
    }
}

extension Line {
    /// Lines with an empty one before them, shortened to fit, with a note of how many are missing.
    static func cut(_ lines: [Line], to room: Int) -> [Line] {
        guard lines.count >= room else { return [""] + lines }
        guard room > 0 else { return [] }
        let kept = max(0, room - 2)
        return (room > 1 ? [""] : []) + lines.prefix(kept) + [Line("  and \(lines.count - kept) more lines", .faint)]
    }
}
