import Essentials
import Glibc

/// The terminal at stdout, if it is one.
struct Terminal: Sendable {
    /// How many characters fit.
    struct Size: Hashable, Sendable {
        var columns: Int
        var rows: Int
    }

    /// Whether tones may be shown; NO_COLOR (https://no-color.org) says no.
    let hasColour: Bool

    /// Nil where stdout is no terminal that can redraw.
    init?() {
        guard isatty(STDOUT_FILENO) == 1, environment("TERM") != "dumb" else { return nil }
        hasColour = (environment("NO_COLOR") ?? "").isEmpty
    }

    /// As it is now; users change it.
    var size: Size {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return Size(columns: 80, rows: 24)
        }
        return Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Writes to it, and waits while it is paused.
    func write(_ text: String) { Essentials.write(text, to: STDOUT_FILENO) }
}
