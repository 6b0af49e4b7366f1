package import AudioCapture
package import SoundCards
internal import Essentials
package import Gateway
package import GatewayStatus
internal import Synchronization

/// Runs a gateway's calibrations by listening, one at a time.
///
/// Any thread may call its methods.
package final class ListeningRoom: Sendable {
    /// Writes an offset into a profile, and returns the profile's path.
    ///
    /// The arguments are the output, the name of the port that it drives (nil if not known), and the offset in
    /// milliseconds.
    package typealias Keep = @Sendable (Status.Output, String?, Double) throws(ListeningProblem) -> String

    /// Opens a sound card by its name, and reads the given channels.
    ///
    /// The last argument is called with each event, on a thread of the card's own.
    package typealias OpenCard =
        @Sendable (String, [Int], @escaping @Sendable (AudioCapture.Event) -> Void) throws(ListeningProblem)
        -> any SoundInput

    private let gateway: Gateway
    private let limits: ListeningSession.Limits
    private let openCard: OpenCard
    private let keep: Keep
    private let newest = Mutex<ListeningRun?>(nil)
    private let isStopped = Atomic(false)

    /// Creates a room in which no calibration runs.
    ///
    /// - Parameters:
    ///   - gateway: the gateway whose outputs can be calibrated.
    ///   - limits: how long a calibration waits.
    ///   - openCard: opens a sound card.
    ///   - keep: writes an offset into a profile.
    package init(
        _ gateway: Gateway, limits: ListeningSession.Limits = .init(),
        openCard: @escaping OpenCard = { (device, channels, receive) throws(ListeningProblem) in
            try AudioCapture.opened(device, channels: channels, receive)
        }, keep: @escaping Keep
    ) {
        (self.gateway, self.limits, self.openCard, self.keep) = (gateway, limits, openCard, keep)
    }

    /// Largest number of file descriptors of a calibration: for the sequencer, the card and a wake-up.
    package static var descriptorsNeeded: Int { 16 }

    /// The inputs of sound cards that exist now.
    package var devices: [SoundDevice] { SoundDevice.all(for: .recording) }

    /// Starts a calibration, which opens a sound card and shows its level.
    ///
    /// - Returns: the first report; its ID is needed for all other calls.
    /// - Throws: if another calibration runs, or if the request cannot be carried out.
    package func open(_ request: ListeningRequest) async throws(ListeningProblem) -> ListeningReport {
        try request.check()
        // The last calibration may have ended and still be closing its card; wait for that.
        if let last = newest.withLock(\.self), last.isOver { await last.cancel() }
        let output: Status.Output
        do throws(UnclearName) {
            output = try NameMatch.resolve(request.output, among: gateway.status().outputs)
        } catch {
            throw ListeningProblem(error.isAmbiguous ? .ambiguousName : .noSuchOutput, error.description)
        }
        var request = request
        request.output = output.id
        let run = newest.withLock { newest in
            guard newest?.isFinished ?? true, !isStopped.load(ordering: .relaxed) else { return ListeningRun?.none }
            let id = String(UInt64.random(in: 0 ... .max), radix: 36)
            newest = ListeningRun(request, id: id, name: output.name, gateway, limits, openCard)
            return newest
        }
        guard let run else {
            throw ListeningProblem(
                .refused, "another calibration is running; end it first, or wait 10 s if nobody is watching it")
        }
        return run.report()
    }

    /// The state of a calibration; asking for it keeps the calibration alive.
    ///
    /// If nobody asks for ``ListeningSession/Limits/lease``, the calibration ends.
    ///
    /// - Throws: if this is not the ID of the newest calibration.
    package func report(_ id: String) throws(ListeningProblem) -> ListeningReport { try run(id).report() }

    /// Makes a calibration start the clock and measure.
    package func measure(_ id: String) throws(ListeningProblem) -> ListeningReport {
        try run(id).measure()
        return try report(id)
    }

    /// Ends a calibration; returns when the clock has been put back and the card is closed.
    ///
    /// It waits at most 2 s for the card.
    package func cancel(_ id: String) async throws(ListeningProblem) -> ListeningReport {
        try await run(id).cancel()
        return try report(id)
    }

    /// Sets the output's offset to the result, and writes it into a profile.
    ///
    /// If the profile cannot be written, the offset is set all the same, and the report tells why.
    ///
    /// - Throws: if there is no result, or if the gateway refuses the offset.
    package func save(_ id: String) async throws(ListeningProblem) -> ListeningReport {
        let run = try run(id)
        let report = run.report()
        guard let result = report.result, report.state == .done else {
            throw ListeningProblem(.refused, "there is no result to save; calibrate first")
        }
        let offset = result.offsetMilliseconds
        try Self.checkOffset(offset)
        do throws(CommandError) {
            try await gateway.perform(.adjust(output: report.output, OutputAdjustment(offset: offset)))
        } catch {
            throw ListeningProblem(.refused, error.description)
        }
        var saved = ListeningReport.Saved(offsetMilliseconds: offset)
        if let output = gateway.status().outputs.first(where: { $0.id == report.output }) {
            do throws(ListeningProblem) {
                saved.profile = try keep(output, SentClock.deviceName(of: output), offset)
            } catch {
                saved.problem = error.message
            }
        } else {
            saved.problem = "the output is gone"
        }
        run.saved(saved)
        return run.report()
    }

    /// Throws if an output cannot have an offset.
    package static func checkOffset(_ milliseconds: Double) throws(ListeningProblem) {
        guard CommandRange.offset.contains(milliseconds) else {
            throw ListeningProblem(
                .refused,
                "the offset would be \(fixed(milliseconds, 2)) ms, more than an output can have "
                    + "(\(CommandRange.offset.words)); check that it is the right machine, or measure at a slower tempo"
            )
        }
    }

    /// Ends the calibration that runs, and refuses new ones; returns when the clock has been put back.
    package func stop() async {
        let run = newest.withLock { newest in
            isStopped.store(true, ordering: .relaxed)
            return newest
        }
        await run?.putBack()
    }

    private func run(_ id: String) throws(ListeningProblem) -> ListeningRun {
        guard let run = newest.withLock(\.self), run.id == id else {
            throw ListeningProblem(.refused, "this calibration is over, and another may have begun; start a new one")
        }
        return run
    }
}

/// A sound card that is being read.
package protocol SoundInput: Sendable {
    /// Asks for the card to be closed; returns at once.
    func requestStop()
    /// Whether the card is closed.
    var isClosed: Bool { get }
    /// Closes the card, and returns when it is closed.
    func stop()
}

extension AudioCapture: SoundInput {}
