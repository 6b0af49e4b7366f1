import Glibc
import SoundCalibration

/// How a calibration by listening is shown while it goes on: in its place on a terminal, else by a line a step.
struct ListeningView {
    private let isQuiet: Bool
    private var block: Block?
    private var lastStep: SoundCalibration.Progress.Step?
    private var updates = 0
    private let head: [Line]

    /// A terminal is drawn anew after every so many updates.
    private static let updatesPerDrawing = 4

    /// - Parameters:
    ///   - isQuiet: to show nothing.
    ///   - name: of the machine.
    ///   - place: where it is heard.
    init(isQuiet: Bool, name: String, place: String) {
        self.isQuiet = isQuiet
        head = [Line("\(name), heard at \(place)", .strong)] + ListeningText.instructions.map { Line($0) }
        block = isQuiet ? nil : Terminal().map(Block.init)
    }

    mutating func show(_ progress: SoundCalibration.Progress) {
        guard !isQuiet else { return }
        updates += 1
        if block != nil {
            guard updates % Self.updatesPerDrawing == 0 else { return }
            block?.show(head + ListeningText.lines(progress))
        } else if progress.step != lastStep {
            if lastStep == nil { for line in head { print(line.text) } }
            lastStep = progress.step
            print(ListeningText.step(progress))
            fflush(nil)  // a reader of a pipe is not kept waiting
        }
    }
}
