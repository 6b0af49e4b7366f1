import Essentials
import Glibc

/// The terminal at stdout.
struct Terminal: Sendable {
    /// The number of characters that fit.
    struct Size: Hashable, Sendable {
        var columns: Int
        var rows: Int
    }

    /// Whether colors are used; NO_COLOR (https://no-color.org) turns them off.
    let hasColour: Bool

    /// Nil if stdout is no terminal that can redraw.
    init?() {
        guard isatty(STDOUT_FILENO) == 1, environment("TERM") != "dumb" else { return nil }
        hasColour = (environment("NO_COLOR") ?? "").isEmpty
    }

    /// The present size; users change it.
    var size: Size {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return Size(columns: 80, rows: 24)
        }
        return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Writes a text, and waits while the terminal is paused.
    func write(_ text: String) { Essentials.write(text, to: STDOUT_FILENO) }
}
