import Glibc
import Listening

/// Shows the progress of a calibration by listening: redrawn in place on a terminal, otherwise one line per step.
struct ListeningView {
    private let isQuiet: Bool
    private var block: Block?
    private var lastState: ListeningReport.State?
    private let head: [Line]

    /// - Parameters:
    ///   - isQuiet: whether to show nothing.
    ///   - name: of the machine.
    ///   - place: the channels listened to.
    init(isQuiet: Bool, name: String, place: String) {
        self.isQuiet = isQuiet
        head = [Line("\(name), heard at \(place)", .strong)] + ListeningText.instructions.map { Line($0) }
        block = isQuiet ? nil : Terminal().map(Block.init)
    }

    /// Notes that the user has entered a line, which moved the cursor down.
    mutating func lineWasEntered() { block?.shift() }

    mutating func show(_ report: ListeningReport) {
        // If the card cannot be opened, only the error is shown.
        guard !isQuiet, report.state != .opening, !report.state.isLast else { return }
        if block != nil {
            block?.show(head + ListeningText.lines(report))
        } else if report.state != lastState {
            if lastState == nil { for line in head { print(line.text) } }
            print(report.state == .level ? ListeningText.question : ListeningText.step(report.state))
            fflush(nil)  // so that the reader of a pipe gets the line at once
        }
        lastState = report.state
    }
}
