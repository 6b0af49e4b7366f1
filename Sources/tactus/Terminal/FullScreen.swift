import Glibc

/// The whole terminal, borrowed for a while: a screen of its own, keys without Return, and all as it was afterwards.
final class FullScreen {
    private let terminal: Terminal
    /// How the keyboard was; nil where stdin is none.
    private let former: termios?
    private var shown = ""
    private var size: Terminal.Size?

    /// Takes the terminal over.
    init(on terminal: Terminal) {
        self.terminal = terminal
        var settings = termios()
        former = isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &settings) == 0 ? settings : nil
        take()
    }

    /// Whether keys can be read.
    var hasKeys: Bool { former != nil }

    /// Takes it over again, after it has been given back by force: the program was stopped and goes on.
    func take() {
        if var settings = former {
            // Ctrl-C and the like still are signals; Ctrl-Z and Ctrl-S would leave a screen that nobody tends.
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

    /// Shows a screen made to measure, if it differs from what is shown.
    func show(_ lines: (Terminal.Size) -> [Line]) {
        let size = terminal.size
        let frame = Self.frame(lines(size), inColour: terminal.hasColour)
        guard frame != shown || size != self.size else { return }
        let clear = size == self.size ? "" : "\u{1B}[2J"
        (shown, self.size) = (frame, size)
        terminal.write(clear + frame)
    }

    /// Gives the terminal back as it was.
    func restore() {
        terminal.write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        if var former { tcsetattr(STDIN_FILENO, TCSADRAIN, &former) }
    }

    /// What draws lines from the top; the last one has no line break, which would scroll.
    static func frame(_ lines: [Line], inColour: Bool) -> String {
        "\u{1B}[H" + lines.map { "\($0.rendered(inColour: inColour))\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
    }
}
