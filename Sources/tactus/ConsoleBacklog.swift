/// What waits to be written to a terminal, pipe or file: lines, and the newest state of a live line.
///
/// It is bounded. While nobody reads, the oldest lines are dropped and counted, and the number is told in their place.
struct ConsoleBacklog {
    /// Most bytes of lines that wait.
    static let capacity = 64 * 1024
    /// Bytes after which a text to write gets no further line.
    private static let enoughAtOnce = 4096

    /// A line for this many lost ones, without its line break.
    private let lossLine: @Sendable (Int) -> String
    private var lines: [String] = []
    private var bytes = 0
    private var lost = 0
    /// The lines in the text last taken, in case it cannot be written.
    private var taken = 0
    /// The live line as it should be, and as it was last written.
    private var liveLine = ""
    private var shownLine = ""

    init(lossLine: @escaping @Sendable (Int) -> String) { self.lossLine = lossLine }

    /// Adds a line, without its line break.
    mutating func add(_ line: String) {
        lines.append(line)
        bytes += Self.size(line)
        guard bytes > Self.capacity else { return }
        var dropped = 0
        while bytes > Self.capacity {
            bytes -= Self.size(lines[dropped])
            dropped += 1
        }
        lines.removeFirst(dropped)
        lost += dropped
    }

    /// Replaces the live line; an empty one removes it.
    mutating func show(_ line: String) { liveLine = line }

    /// The next text to write; nil if nothing waits.
    mutating func take() -> String? {
        guard !lines.isEmpty || liveLine != shownLine else { return nil }
        // Return to the start of the line, and clear it.
        var text = liveLine.isEmpty && shownLine.isEmpty ? "" : "\r\u{1B}[K"
        taken = 0
        if !lines.isEmpty, lost > 0 {
            text += lossLine(lost) + "\n"
            (taken, lost) = (lost, 0)
        }
        var count = 0
        while count < lines.count, text.utf8.count < Self.enoughAtOnce {
            text += lines[count] + "\n"
            bytes -= Self.size(lines[count])
            count += 1
        }
        lines.removeFirst(count)
        taken += count
        shownLine = liveLine
        return text + liveLine
    }

    /// Notes that the text last taken could not be written; its lines are lost.
    mutating func failed() { lost += taken }

    private static func size(_ line: String) -> Int { line.utf8.count + 1 }
}
