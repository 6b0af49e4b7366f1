internal import ALSASequencer
package import ClockDispatch
internal import Glibc
internal import RealTime
internal import Synchronization

/// The sound cards that outputs play on: opens those that are wanted, tries absent ones again, and closes others.
///
/// Before it opens a card, it has it reserved, so that a desktop's sound server lets go of it.
///
/// One thread calls it, but for ``figures``, ``plan(of:)`` and ``isWanted(_:)``.
package final class OutputCards: Sendable {
    private let counters: OutputThread
    private let priority: Int32
    private let cards = Mutex<[String: Entry]>([:])
    /// Nil until a card is wanted that can be reserved.
    private let reserver = Mutex<CardReserver?>(nil)

    private struct Entry {
        /// Nil while the card is only to be closed.
        var wanted: SoundCardSetup?
        var card: OutputCard?
        var state = OutputCard.State.opening
        /// When to open it, at the earliest.
        var opensAt = MonotonicTime(nanoseconds: 0)
        var underruns = 0
        /// ALSA's number of the card when it was last looked for; nil if it is not there, or cannot be reserved.
        var number: Int?
    }

    /// Time from a failure to the next attempt, in nanoseconds.
    private static let patience: Int64 = 500_000_000

    /// Prepares to play.
    ///
    /// - Parameters:
    ///   - counters: count what outputs send.
    ///   - priority: real-time priority of the cards' threads, 0 for none.
    package init(counting counters: OutputThread, priority: Int32) {
        (self.counters, self.priority) = (counters, priority)
    }

    /// Changes which cards are wanted; ``tend(_:)`` opens and closes them.
    package func play(_ setups: [SoundCardSetup]) {
        let wanted = Dictionary(setups.map { ($0.device, $0) }) { first, _ in first }
        cards.withLock { cards in
            for device in Set(cards.keys).union(wanted.keys) where cards[device]?.wanted != wanted[device] {
                cards[device, default: Entry()].wanted = wanted[device]
                cards[device]?.state = .opening
            }
        }
    }

    /// Hands over a newer board.
    package func publish(_ board: OutputBoard) {
        for card in cards.withLock({ $0.values.compactMap(\.card) }) { card.publish(board) }
    }

    /// Opens and closes cards; to be called every 250 ms or so while any is wanted.
    ///
    /// - Parameter board: the newest board.
    /// - Returns: the state of each card that is wanted, by its name.
    package func tend(_ board: OutputBoard) -> [String: OutputCard.State] {
        let now = MonotonicTime.now()
        return cards.withLock { cards in
            for device in Array(cards.keys) {
                tend(&cards[device, default: Entry()], board, at: now)
                if cards[device]?.wanted == nil, cards[device]?.card == nil { cards[device] = nil }
            }
            reserve(cards.values)
            return cards.filter { $0.value.wanted != nil }.mapValues(\.state)
        }
    }

    private func tend(_ entry: inout Entry, _ board: OutputBoard, at now: MonotonicTime) {
        if let card = entry.card {
            entry.underruns = card.underrunCount
            if case .held(let holder) = standing(ofCard: entry.number) {
                entry.state = .failed(.held(holder))
                card.requestStop()
            } else if entry.wanted != card.setup {
                card.requestStop()
            } else if card.state != .opening {
                entry.state = card.state
            }
            guard card.isClosed else { return }
            card.stop()
            if case .failed = card.state {
                entry.opensAt = now.advanced(byNanoseconds: Self.patience)
            }
            entry.card = nil
        }
        guard let wanted = entry.wanted, entry.opensAt <= now else { return }
        entry.number = SoundCard.number(ofDevice: wanted.device)
        switch standing(ofCard: entry.number) {
        case .granted: open(wanted, in: &entry, board, at: now)
        case .asking: break
        case .held(let holder):
            entry.state = .failed(.held(holder))
            entry.opensAt = now.advanced(byNanoseconds: Self.patience)
        }
    }

    private func open(_ wanted: SoundCardSetup, in entry: inout Entry, _ board: OutputBoard, at now: MonotonicTime) {
        do throws(SystemCallError) {
            entry.card = try OutputCard(
                wanted, board, counting: counters, underruns: entry.underruns, priority: priority)
        } catch {
            entry.opensAt = now.advanced(byNanoseconds: Self.patience)
            entry.state = .failed(.error(ALSAError(operation: error.operation, code: -error.code)))
        }
    }

    /// What an output does that plays on a card; any thread.
    ///
    /// - Parameter output: its ID.
    /// - Returns: nil if no card plays it.
    package func plan(of output: String) -> PlayedPlan? {
        cards.withLock { $0.values.compactMap(\.card) }.lazy.compactMap { $0.plan(of: output) }.first
    }

    /// Whether an output is one on a card, by its ID; any thread.
    package func isWanted(_ output: String) -> Bool {
        cards.withLock { $0.values.contains { $0.wanted?.parts.contains { $0.output == output } == true } }
    }

    private func standing(ofCard number: Int?) -> CardReservations.Standing {
        guard let number else { return .granted }
        return reserver.withLock { reserver in
            if reserver == nil { reserver = try? CardReserver() }
            return reserver?.standing(of: number) ?? .granted
        }
    }

    private func reserve(_ entries: some Collection<Entry>) {
        var wanted: [Int: Bool] = [:]
        for entry in entries {
            if let number = entry.number {
                wanted[number, default: false] = wanted[number] == true || entry.card != nil
            }
        }
        reserver.withLock { $0?.reserve(wanted) }
    }

    /// What is known of the cards that play, by their names; any thread.
    package var figures: [String: OutputCard.Figures] {
        cards.withLock { $0.compactMapValues { $0.card?.figures } }
    }

    /// Asks all cards to fall silent and close; returns at once.
    package func requestStop() {
        for card in cards.withLock({ $0.values.compactMap(\.card) }) { card.requestStop() }
    }

    /// Waits until all cards are closed, for a second at most: a driver that hangs must not hold up the end of a run.
    package func stop() {
        requestStop()
        let open = cards.withLock { $0.values.compactMap(\.card) }
        let end = MonotonicTime.now().advanced(byNanoseconds: 1_000_000_000)
        var none: [pollfd] = []
        while open.contains(where: { !$0.isClosed }), MonotonicTime.now() < end {
            poll(&none, until: MonotonicTime.now().advanced(byNanoseconds: 5_000_000))
        }
        for card in open where card.isClosed { card.stop() }
        reserver.withLock { $0.take() }?.stop()
    }
}
