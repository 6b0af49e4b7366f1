import ClockMeter
import Glibc

/// Shows a measurement while it runs: redrawn in place on a terminal, otherwise as single lines.
struct MonitorView {
    private let isQuiet: Bool
    private let end: String
    private var block: Block?
    private var lastLine: (second: Double, state: ClockFigures.State, messages: Int) = (0, .waiting, 0)
    private var updates = 0

    /// Seconds between two lines if nothing changes.
    private static let pause = 10.0
    /// Number of updates after which a terminal is redrawn; numbers that change faster cannot be read.
    private static let updatesPerDrawing = 3

    /// - Parameters:
    ///   - isQuiet: whether to show nothing.
    ///   - end: text that tells the user how to end it.
    init(isQuiet: Bool, end: String) {
        self.isQuiet = isQuiet
        self.end = end
        block = isQuiet ? nil : Terminal().map(Block.init)
    }

    /// Shows the figures so far.
    mutating func show(_ figures: @autoclosure () -> ClockFigures, of name: String, hint: String) {
        guard !isQuiet else { return }
        updates += 1
        guard updates % Self.updatesPerDrawing == 0 else { return }
        let figures = figures()
        guard block == nil else {
            block?.show(MonitorText.view(figures, of: name, hint: hint.isEmpty ? end : hint))
            return
        }
        let hasChanged = figures.state != lastLine.state || figures.transport.messages != lastLine.messages
        guard hasChanged || figures.seconds - lastLine.second >= Self.pause else { return }
        lastLine = (figures.seconds, figures.state, figures.transport.messages)
        print(MonitorText.line(figures))
        fflush(nil)  // so that the reader of a pipe gets the line at once
    }
}
