import Essentials
import Glibc
import RealTime

/// The terminal of a running gateway: log lines on stderr, and one live line on stdout.
///
/// The two do not overwrite each other. Nothing here waits for a reader, such as a paused terminal or a full pipe, because
/// a log line must never hold up a thread that a clock depends on. Lines that do not fit any more are counted.
final class Console: Sendable {
    /// Whether stdout is a terminal that can redraw a line.
    let isLive: Bool
    private let stdout: ConsoleWriter
    /// The same one if both lead to the same place.
    private let stderr: ConsoleWriter

    /// Most descriptors that it opens.
    static let descriptorsNeeded = 2 * ConsoleWriter.descriptorsNeeded

    /// Starts to write.
    ///
    /// - Parameter lossLine: a line for this many lost ones.
    /// - Throws: when the system gives no descriptor or no thread.
    init(lossLine: @escaping @Sendable (Int) -> String) throws(SystemCallError) {
        isLive = isatty(STDOUT_FILENO) == 1 && environment("TERM") != "dumb"
        stderr = try ConsoleWriter(STDERR_FILENO, name: "tactus-stderr", lossLine: lossLine)
        let isSamePlace = Files.identity(of: STDOUT_FILENO) == Files.identity(of: STDERR_FILENO)
        stdout = try isSamePlace ? stderr : ConsoleWriter(STDOUT_FILENO, name: "tactus-stdout", lossLine: lossLine)
    }

    /// Characters per line of the terminal.
    var width: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Replaces the live line; an empty one removes it.
    func show(_ line: String) { if isLive { stdout.show(line) } }

    /// Writes a line to stdout.
    func tell(_ line: String) { stdout.add(line) }

    /// Writes a line to stderr, above the live line.
    func log(_ line: String) { stderr.add(line) }

    /// Waits a moment until everything is written; what nobody reads by then is lost.
    func flush() {
        let deadline = MonotonicTime.now().advanced(byNanoseconds: Self.patience)
        for writer in [stdout, stderr] { writer.flush(until: deadline) }
    }

    /// Longest wait for a reader at the end, in nanoseconds.
    private static let patience: Int64 = 500_000_000
}
