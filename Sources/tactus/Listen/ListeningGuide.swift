import Essentials
import GatewayStatus
import Glibc
import HTTPTypes
import Listening
import RealTime

/// Guides the user through a calibration by listening, which the gateway carries out.
struct ListeningGuide {
    let client: ControlClient
    let output: Status.Output
    /// The sound card.
    let device: String
    /// Counted from 1.
    let channel: Int
    /// The channel to compare with.
    let against: Int?
    /// Latency of the sound card in milliseconds; nil if it is not known.
    let inputLatency: Double?
    /// Whether to wait at the terminal until the user confirms the level.
    let asks: Bool

    /// Time between requests for the calibration's state.
    private static let interval = Duration.milliseconds(120)

    /// The channels listened to, as text.
    var place: String { "\(device), channel \(channel)\(against.map { ", against \($0)" } ?? "")" }

    /// The request that starts the calibration.
    private struct Request: Encodable {
        var device: String
        var channel: Int
        var against: Int?
        var inputLatencyMilliseconds: Double?
    }

    /// Listens until there is a result.
    ///
    /// - Parameter view: shows the progress.
    /// - Returns: the ID by which the result can be saved, and the result.
    /// - Throws: why there is no result, and what to do.
    func run(showing view: ListeningView) async throws -> (id: String, ListeningFigures) {
        // Closing the terminal ends it cleanly too, unless it was started with nohup.
        let stop = try StopRequest(alsoOn: SignalSource.isIgnored(SIGHUP) ? [] : [SIGHUP])
        let request = Request(
            device: device, channel: channel, against: against,
            inputLatencyMilliseconds: inputLatency)
        var report: ListeningReport = try await client.answer(
            .post, "outputs/\(output.id)/listening", try JSON.text(request)
        ).value
        let path = "listening/\(report.id)"
        var (view, isAnswered, isStopped) = (view, !asks, false)
        while !report.state.isLast {
            try? await Task.sleep(for: Self.interval)
            if stop.isRequested {
                report = try await client.answer(.delete, path).value
                isStopped = true
                break
            }
            report = try await client.answer(.get, path).value
            if !isAnswered || report.state != .level { view.show(report) }
            guard report.state == .level else { continue }
            if !isAnswered, Self.isEnterPressed() {
                isAnswered = true
                view.lineWasEntered()
            }
            if isAnswered { report = try await client.answer(.post, "\(path)/measure", "{}").value }
        }
        if let problem = report.problem { throw Failure(problem) }
        guard let result = report.result, !isStopped else {
            throw Failure(.unavailable, "stopped before there was a result")
        }
        return (report.id, result)
    }

    /// Makes the gateway set the output's offset to the result, and save it in a profile.
    ///
    /// - Parameter id: what ``run(showing:)`` returned.
    /// - Returns: what was saved.
    /// - Throws: why the offset was not set.
    func save(_ id: String) async throws -> ListeningReport.Saved {
        let report: ListeningReport = try await client.answer(.post, "listening/\(id)/save", "{}").value
        guard let saved = report.saved else {
            throw Failure(.unavailable, "the gateway does not say what it saved; 'tactus status' shows the offset")
        }
        return saved
    }

    /// Whether the user has entered a line at the terminal, or the terminal is closed.
    private static func isEnterPressed() -> Bool {
        var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&waiting, 1, 0) > 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: 256)
        _ = read(STDIN_FILENO, &bytes, bytes.count)
        return true
    }
}

extension Failure {
    /// Why a calibration by listening gave no result.
    init(_ problem: ListeningProblem) {
        let status: Status =
            switch problem.kind {
            case .refused, .noSuchOutput, .ambiguousName, .badValue: .refused
            case .unavailable, .cancelled: .unavailable
            case .noPermission: .noPermission
            case .system: .system
            }
        self.init(status, problem.message)
    }
}
