internal import ALSASequencer
internal import BeatTime
internal import CardClock
package import ClockDispatch
package import RealTime
internal import Glibc
internal import SoundCards
internal import Synchronization

/// Plays the lines of outputs on a sound card, on a thread of its own.
///
/// The thread takes no lock while it plays and allocates nothing, but after an underrun, or when it writes further ahead
/// than ever before.
package final class OutputCard: Sendable {
    package let setup: SoundCardSetup
    /// The newest board, for the thread that plays.
    private let board: TripleBuffer<OutputBoard>
    /// The same, for any thread that asks what is planned.
    private let planned: Mutex<OutputBoard>
    private let counters: OutputThread
    private let stateNow = Mutex(State.opening)
    private let isStopping = Atomic(false)
    private let hasEnded = Atomic(false)
    private let underruns: Atomic<Int>
    private let underrunsBefore: Int
    /// The card's rate and its error, in millionths of a ppm; the error is negative while the rate is not known.
    private let rate = Atomic(Int64(0))
    private let rateError = Atomic(Int64(-1))
    private let thread = Mutex<RealTimeThread?>(nil)

    package enum State: Hashable, Sendable {
        case opening
        case playing(Playing)
        case failed(CardFailure)
    }

    package struct Playing: Hashable, Sendable {
        /// In Hz.
        package var sampleRate: Int
        /// If not, a plug-in such as a sound server tells how far the card is.
        package var hasOwnClock: Bool
        /// Outputs with a channel above its last one stay away.
        package var channelCount: Int
        /// How far ahead it is written at most, in microseconds; more after it has fallen silent.
        package var ahead: Int64
        /// The outputs that stay away because another one has a channel of theirs, by their IDs.
        package var taken: [String: SoundCardSetup.TakenChannel] = [:]

        package init(sampleRate: Int, hasOwnClock: Bool, channelCount: Int, ahead: Int64) {
            (self.sampleRate, self.hasOwnClock) = (sampleRate, hasOwnClock)
            (self.channelCount, self.ahead) = (channelCount, ahead)
        }
    }

    /// Time between two looks at the card, in nanoseconds.
    private static let pause: Int64 = 2_500_000

    /// Starts the thread, which opens the card: some take long.
    ///
    /// - Parameters:
    ///   - setup: the card, and what is played on it.
    ///   - board: what the outputs do now.
    ///   - counters: count what outputs send.
    ///   - underruns: how often the card has fallen silent before.
    ///   - priority: real-time priority, 0 for none.
    /// - Throws: if the system provides no thread.
    package init(
        _ setup: SoundCardSetup, _ board: OutputBoard, counting counters: OutputThread, underruns: Int, priority: Int32
    ) throws(SystemCallError) {
        self.setup = setup
        self.board = TripleBuffer(board)
        planned = Mutex(board)
        self.counters = counters
        self.underruns = Atomic(underruns)
        underrunsBefore = underruns
        let playing = try RealTimeThread(name: "tactus-card", priority: priority) { [self] in
            run()
            hasEnded.store(true, ordering: .releasing)
        }
        thread.withLock { $0 = playing }
    }

    /// Hands over a newer board; always the same thread.
    package func publish(_ board: OutputBoard) {
        self.board.publish(board)
        planned.withLock { $0 = board }
    }

    /// Asks the thread to close the card and end; returns at once.
    package func requestStop() { isStopping.store(true, ordering: .releasing) }

    /// Closes the card, and returns when the thread has ended.
    package func stop() {
        requestStop()
        thread.withLock { $0?.join() }
    }

    /// Whether the card is closed.
    package var isClosed: Bool { hasEnded.load(ordering: .acquiring) }

    /// How often the card has fallen silent.
    var underrunCount: Int { underruns.load(ordering: .relaxed) }

    package var state: State { stateNow.withLock { $0 } }

    /// What an output does, by its ID; nil if the card does not play it.
    func plan(of output: String) -> PlayedPlan? {
        guard case .playing(let playing) = state,
            let part = setup.parts.first(where: { $0.output == output && $0.fits(on: playing.channelCount) })
        else { return nil }
        return planned.withLock { board in
            let slot = board.slots[part.slot]
            guard slot.occupant == part.occupant else { return nil }
            return PlayedPlan(
                plan: slot.plan(board.transport), map: board.map, realigning: slot.realigning,
                underruns: underrunCount)
        }
    }

    /// What is known of the card; nil unless it plays.
    package var figures: Figures? {
        guard case .playing(let playing) = state else { return nil }
        let error = rateError.load(ordering: .relaxed)
        return Figures(
            sampleRate: playing.sampleRate, hasOwnClock: playing.hasOwnClock,
            partsPerMillion: error < 0 ? nil : Double(rate.load(ordering: .relaxed)) / 1e6,
            error: error < 0 ? nil : Double(error) / 1e6, underruns: underruns.load(ordering: .relaxed))
    }

    package struct Figures: Hashable, Sendable {
        package var sampleRate: Int
        package var hasOwnClock: Bool
        /// By how much the card is faster than its sample rate says, and the standard error; nil in the first seconds.
        package var partsPerMillion: Double?
        package var error: Double?
        /// How often the card fell silent, because it was not written to in time.
        package var underruns: Int
    }

    private func run() {
        do throws(ALSAError) {
            var card = try open()
            try play(&card)
        } catch {
            stateNow.withLock { $0 = .failed(.error(error)) }
        }
    }

    /// Opens the card, for those outputs whose channels it has.
    private func open() throws(ALSAError) -> PCMOutput {
        do throws(ALSAError) {
            return try PCMOutput(opening: setup.device, channels: setup.channelCount)
        } catch {
            guard error.code == -EINVAL,
                let most = OpenCard.channelCount(of: SoundCard.itself(setup.device), for: .playing),
                setup.parts.contains(where: { $0.fits(on: most) })
            else { throw error }
            return try PCMOutput(opening: setup.device, channels: min(most, setup.channelCount))
        }
    }

    private func play(_ card: inout PCMOutput) throws(ALSAError) {
        var run = CardRun(setup, on: card)
        var playing = Playing(
            sampleRate: card.sampleRate, hasOwnClock: card.hasOwnClock, channelCount: card.channelCount,
            ahead: run.ahead)
        playing.taken = setup.taken
        stateNow.withLock { $0 = .playing(playing) }
        while !isStopping.load(ordering: .acquiring) {
            // Closures cannot throw the error's type.
            var failure: ALSAError?
            board.withLatest { board in
                do throws(ALSAError) { try run.turn(&card, board) } catch { failure = error }
            }
            if let failure { throw failure }
            count(&run)
            if run.ahead != playing.ahead {
                playing.ahead = run.ahead
                stateNow.withLock { $0 = .playing(playing) }
            }
            sleep()
        }
    }

    private func count(_ run: inout CardRun) {
        run.takeCounts { count in
            counters.withCounters(of: count.slot) { $0.countPulses(count.pulses, skipped: count.skipped) }
        }
        underruns.store(underrunsBefore + run.underruns, ordering: .relaxed)
        guard let clock = run.clock, clock.rateError.isFinite else { return }
        rate.store(Int64(max(-1e6, min(clock.partsPerMillion, 1e6)) * 1e6), ordering: .relaxed)
        rateError.store(Int64(min(clock.rateError, 1e6) * 1e6), ordering: .relaxed)
    }

    private func sleep() {
        var none: [pollfd] = []
        poll(&none, until: MonotonicTime.now().advanced(byNanoseconds: Self.pause))
    }
}
