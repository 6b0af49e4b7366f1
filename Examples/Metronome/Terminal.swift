import Glibc

/// The screen and the keyboard; a key counts at once, without Return.
///
/// It works on pipes as well. What the terminal was like before is restored at the end.
struct Terminal: ~Copyable {
    private let before: termios?

    init() {
        var line = termios()
        guard tcgetattr(STDIN_FILENO, &line) == 0 else {
            before = nil
            return
        }
        before = line
        line.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &line)
    }

    deinit {
        if var before { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
    }

    /// The keys that are pressed within a time; nil if there will never be another.
    func keys(withinMilliseconds patience: Int32) -> [Character]? {
        var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, patience) > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        return count > 0 ? bytes.prefix(count).map { Character(UnicodeScalar($0)) } : nil
    }

    func show(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Ends the program with a complaint.
    static func fail(_ complaint: String) {
        let bytes = Array((complaint + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        exit(64)
    }
}
