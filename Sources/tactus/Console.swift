import Essentials
import Glibc
import Synchronization

/// The terminal of a running gateway: log lines on stderr, and one live line on stdout.
///
/// The two do not overwrite each other. Nothing here waits: when the reader is stalled (a paused terminal, a full
/// pipe), lines are dropped and counted, because a log line must never hold up a thread that a clock depends on.
final class Console: Sendable {
    private struct State {
        var line = ""
        var lost = 0
    }

    /// Whether stdout is a terminal that can redraw a line.
    let isLive: Bool
    private let sharesTerminal: Bool
    private let state = Mutex(State())

    init() {
        isLive = isatty(STDOUT_FILENO) == 1 && environment("TERM") != "dumb"
        sharesTerminal = isLive && isatty(STDERR_FILENO) == 1
    }

    /// Characters per line of the terminal.
    var width: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Replaces the live line; an empty one removes it.
    func show(_ line: String) {
        guard isLive else { return }
        state.withLock { state in
            guard line != state.line, Self.write(Self.redraw + line, to: STDOUT_FILENO) else { return }
            state.line = line
        }
    }

    /// Writes a line to stdout, before the live line is shown first; drops it if nobody reads.
    func tell(_ line: String) { state.withLock { _ in _ = Self.write(line + "\n", to: STDOUT_FILENO) } }

    /// Writes a line to stderr, above the live line.
    func log(_ line: String) {
        state.withLock { state in
            let isOver = sharesTerminal && !state.line.isEmpty
            let lost = state.lost > 0 ? "\(state.lost) log lines lost\n" : ""
            let text = (isOver ? Self.redraw : "") + lost + line + "\n" + (isOver ? state.line : "")
            state.lost = Self.write(text, to: STDERR_FILENO) ? 0 : state.lost + 1
        }
    }

    /// Returns to the start of the line, and clears it.
    private static let redraw = "\r\u{1B}[K"

    /// Writes as much as possible without waiting; false if nothing could be written.
    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&waiting, 1, 0) == 1, waiting.revents & Int16(POLLOUT) != 0 else { return false }
        let bytes = Array(text.utf8)
        return Glibc.write(descriptor, bytes, bytes.count) == bytes.count
    }
}
