package import AudioCapture
internal import Essentials
package import Gateway
package import GatewayStatus
internal import Synchronization

/// A gateway's calibrations by listening: one at a time.
///
/// Any thread may call it.
package final class ListeningRoom: Sendable {
    /// Keeps an offset in a profile, and returns where; the text is the name of the port that the output drives.
    package typealias Keep = @Sendable (Status.Output, String?, Double) throws(ListeningProblem) -> String

    /// Opens a sound card's channels; what is heard is told to the last argument.
    package typealias OpenCard =
        @Sendable (String, [Int], @escaping @Sendable (AudioCapture.Event) -> Void) throws(ListeningProblem)
        -> any SoundInput

    private let gateway: Gateway
    private let limits: ListeningSession.Limits
    private let openCard: OpenCard
    private let keep: Keep
    private let newest = Mutex<ListeningRun?>(nil)
    private let isStopped = Atomic(false)

    /// A room in which nobody listens.
    ///
    /// - Parameters:
    ///   - gateway: has the outputs.
    ///   - limits: how long a calibration waits.
    ///   - openCard: opens a sound card.
    ///   - keep: keeps an offset.
    package init(
        _ gateway: Gateway, limits: ListeningSession.Limits = .init(),
        openCard: @escaping OpenCard = { (device, channels, receive) throws(ListeningProblem) in
            try AudioCapture.opened(device, channels: channels, receive)
        }, keep: @escaping Keep
    ) {
        (self.gateway, self.limits, self.openCard, self.keep) = (gateway, limits, openCard, keep)
    }

    /// How many descriptors one opens at most: the sequencer's, the card's, and a wake-up.
    package static var descriptorsNeeded: Int { 16 }

    /// The inputs of sound cards that there are now.
    package var devices: [CaptureDevice] { CaptureDevice.all() }

    /// Opens a sound card and shows its level.
    ///
    /// - Returns: how it stands; its ID is needed for all that follows.
    /// - Throws: when another is going on, or the request is not possible.
    package func open(_ request: ListeningRequest) async throws(ListeningProblem) -> ListeningReport {
        try request.check()
        // One that has ended may still be closing its card.
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
                .refused, "another calibration listens; end it first, or wait 10 s if nobody watches it any more")
        }
        return run.report()
    }

    /// How a calibration stands; it ends by itself if nobody asks for ``ListeningSession/Limits/lease``.
    ///
    /// - Throws: when there is none with this ID.
    package func report(_ id: String) throws(ListeningProblem) -> ListeningReport { try run(id).report() }

    /// Has the clock start.
    package func measure(_ id: String) throws(ListeningProblem) -> ListeningReport {
        try run(id).measure()
        return try report(id)
    }

    /// Ends a calibration; returns when the clock has been put back.
    package func cancel(_ id: String) async throws(ListeningProblem) -> ListeningReport {
        try await run(id).cancel()
        return try report(id)
    }

    /// Gives the output the offset that was found, and keeps it in a profile.
    ///
    /// - Throws: when there is no result, or the gateway does not take it.
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
        guard OutputAdjustment.offsets.contains(milliseconds) else {
            throw ListeningProblem(
                .refused, "an offset of \(fixed(milliseconds, 2)) ms is more than an output can have, 500; see that it is the right machine, "
                    + "or measure at a slower tempo")
        }
    }

    /// Ends what is going on and begins nothing more; returns when the clock has been put back.
    package func stop() async {
        let run = newest.withLock { newest in
            isStopped.store(true, ordering: .relaxed)
            return newest
        }
        await run?.putBack()
    }

    private func run(_ id: String) throws(ListeningProblem) -> ListeningRun {
        guard let run = newest.withLock(\.self), run.id == id else {
            throw ListeningProblem(.refused, "this calibration is over, and another may have begun; start it anew")
        }
        return run
    }
}

/// A sound card that is listened to.
package protocol SoundInput: Sendable {
    /// Asks it to close; returns at once.
    func requestStop()
    /// Whether it is closed.
    var isClosed: Bool { get }
    /// Returns when it is closed.
    func stop()
}

extension AudioCapture: SoundInput {}
