import Glibc

/// Full-screen use of the terminal: a separate screen, keys without Return, and everything restored afterwards.
final class FullScreen {
    private let terminal: Terminal
    /// The previous keyboard settings; nil if stdin is no terminal.
    private let former: termios?
    private var shown = ""
    private var size: Terminal.Size?

    /// Switches to the full screen.
    init(on terminal: Terminal) {
        self.terminal = terminal
        var settings = termios()
        former = isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &settings) == 0 ? settings : nil
        enter()
    }

    /// Whether keys can be read.
    var hasKeys: Bool { former != nil }

    /// Switches to the full screen, also after the program was stopped and continued.
    func enter() {
        if var settings = former {
            // Ctrl-C and the like stay signals, but Ctrl-Z and Ctrl-S would leave a screen that nobody updates.
            settings.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
            settings.c_iflag &= ~tcflag_t(IXON)
            withUnsafeMutableBytes(of: &settings.c_cc) { keys in
                keys[Int(VMIN)] = 1
                keys[Int(VTIME)] = 0
                keys[Int(VSUSP)] = 0
            }
            tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
        }
        // Other screen, no cursor, no wrapping.
        terminal.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l")
        (shown, size) = ("", nil)
    }

    /// Shows a screen for the present size, if it differs from the shown one.
    func show(_ lines: (Terminal.Size) -> [Line]) {
        let size = terminal.size
        let frame = Self.frame(lines(size), inColour: terminal.hasColour)
        guard frame != shown || size != self.size else { return }
        let clear = size == self.size ? "" : "\u{1B}[2J"
        (shown, self.size) = (frame, size)
        terminal.write(clear + frame)
    }

    /// Restores the terminal.
    func restore() {
        terminal.write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        if var former { tcsetattr(STDIN_FILENO, TCSADRAIN, &former) }
    }

    /// The text that draws lines from the top; the last one has no line break, which would scroll.
    static func frame(_ lines: [Line], inColour: Bool) -> String {
        "\u{1B}[H" + lines.map { "\($0.rendered(inColour: inColour))\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
    }
}
