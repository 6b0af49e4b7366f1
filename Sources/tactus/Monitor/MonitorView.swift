import ClockMeter
import Glibc

/// How a measuring is shown while it goes on: in its place on a terminal, else by a line now and then.
struct MonitorView {
    private let isQuiet: Bool
    private let end: String
    private var block: Block?
    private var lastLine: (second: Double, state: ClockFigures.State, messages: Int) = (0, .waiting, 0)
    private var updates = 0

    /// Seconds from one line to the next, if nothing happens.
    private static let pause = 10.0
    /// A terminal is drawn anew after every so many updates: numbers that change faster cannot be read.
    private static let updatesPerDrawing = 3

    /// - Parameters:
    ///   - isQuiet: to show nothing.
    ///   - end: how the user ends it.
    init(isQuiet: Bool, end: String) {
        self.isQuiet = isQuiet
        self.end = end
        block = isQuiet ? nil : Terminal().map(Block.init)
    }

    /// Shows what is known by now.
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
        fflush(nil)  // a reader of a pipe is not kept waiting
    }
}
