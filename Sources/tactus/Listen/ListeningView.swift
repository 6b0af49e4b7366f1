import Glibc
import Listening

/// How a calibration by listening is shown while it goes on: in its place on a terminal, else by a line a step.
struct ListeningView {
    private let isQuiet: Bool
    private var block: Block?
    private var lastState: ListeningReport.State?
    private let head: [Line]

    /// - Parameters:
    ///   - isQuiet: to show nothing.
    ///   - name: of the machine.
    ///   - place: where it is heard.
    init(isQuiet: Bool, name: String, place: String) {
        self.isQuiet = isQuiet
        head = [Line("\(name), heard at \(place)", .strong)] + ListeningText.instructions.map { Line($0) }
        block = isQuiet ? nil : Terminal().map(Block.init)
    }

    /// Takes in that the terminal has shown a new line of the user's.
    mutating func lineWasEntered() { block?.shift() }

    mutating func show(_ report: ListeningReport) {
        // A card that cannot be opened is told, and nothing else.
        guard !isQuiet, report.state != .opening, !report.state.isLast else { return }
        if block != nil {
            block?.show(head + ListeningText.lines(report))
        } else if report.state != lastState {
            if lastState == nil { for line in head { print(line.text) } }
            print(report.state == .level ? ListeningText.question : ListeningText.step(report.state))
            fflush(nil)  // a reader of a pipe is not kept waiting
        }
        lastState = report.state
    }
}
