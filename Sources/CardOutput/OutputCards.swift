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
    private let tell: @Sendable (BusNews) -> Void
    private let shared = Mutex(Shared())
    /// Nil until a card is wanted that can be reserved.
    private let reserver = Mutex<CardReserver?>(nil)

    private struct Shared {
        /// What is wanted, one for each name of a card.
        var setups: [SoundCardSetup] = []
        var areNew = false
        /// What the names meant when they were last looked up.
        var devices: [String: SoundCard.Device] = [:]
        /// By the name with which a card is opened.
        var cards: [String: Entry] = [:]

        /// Whether a device is still open by a name that nobody uses any more.
        func isClosing(_ device: SoundCard.Device?) -> Bool {
            device != nil && cards.values.contains { $0.wanted == nil && $0.device == device }
        }

        /// The state of each card that is wanted, by all its names.
        var states: [String: OutputCard.State] {
            let states = cards.values.flatMap { card in (card.wanted?.names ?? []).map { ($0, card.state) } }
            return Dictionary(states) { first, _ in first }
        }
    }

    private struct Entry {
        /// Nil while the card is only to be closed.
        var wanted: SoundCardSetup?
        var card: OutputCard?
        var state = OutputCard.State.opening
        /// When to open it, at the earliest.
        var opensAt = MonotonicTime(nanoseconds: 0)
        var underruns = 0
        /// The card when it was last looked for; nil if it is not there, or cannot be reserved.
        var device: SoundCard.Device?

        func isDue(at now: MonotonicTime) -> Bool { wanted != nil && card == nil && opensAt <= now }
    }

    /// Time from a failure to the next attempt, in nanoseconds.
    private static let patience: Int64 = 500_000_000

    /// Prepares to play.
    ///
    /// - Parameters:
    ///   - counters: count what outputs send.
    ///   - priority: real-time priority of the cards' threads, 0 for none.
    ///   - tell: called with what is to be said of the bus on which cards are reserved; any thread.
    package init(
        counting counters: OutputThread, priority: Int32, tell: @escaping @Sendable (BusNews) -> Void
    ) {
        (self.counters, self.priority, self.tell) = (counters, priority, tell)
    }

    /// Changes which cards are wanted; ``tend(_:)`` opens and closes them.
    package func play(_ setups: [SoundCardSetup]) { shared.withLock { ($0.setups, $0.areNew) = (setups, true) } }

    /// Hands over a newer board.
    package func publish(_ board: OutputBoard) {
        for card in openCards { card.publish(board) }
    }

    private var openCards: [OutputCard] { shared.withLock { $0.cards.values.compactMap(\.card) } }

    /// Opens and closes cards; to be called every 250 ms or so while any is wanted.
    ///
    /// - Parameter board: the newest board.
    /// - Returns: the state of each card that is wanted, by its names.
    package func tend(_ board: OutputBoard) -> [String: OutputCard.State] {
        let now = MonotonicTime.now()
        return shared.withLock { shared in
            lookUp(&shared, at: now)
            for name in Array(shared.cards.keys) {
                watch(&shared.cards[name, default: Entry()], at: now)
                if shared.cards[name]?.wanted == nil, shared.cards[name]?.card == nil { shared.cards[name] = nil }
            }
            // In their order, if libasound has names for one card that are not known to be that.
            for name in shared.setups.map(\.device)
            where shared.cards[name]?.isDue(at: now) == true && !shared.isClosing(shared.devices[name]) {
                open(&shared.cards[name, default: Entry()], shared.devices[name], board, at: now)
            }
            reserve(shared.cards.values)
            return shared.states
        }
    }

    /// Finds out which names mean one card, as often as a card may have come or gone.
    private func lookUp(_ shared: inout Shared, at now: MonotonicTime) {
        guard shared.areNew || shared.cards.values.contains(where: { $0.isDue(at: now) }) else { return }
        let (areNew, states) = (shared.areNew, shared.states)
        shared.areNew = false
        // If the kernel does not tell, as when there are no descriptors left, what plays goes on.
        shared.devices = SoundCard.devices(named: shared.setups.map(\.device)) ?? shared.devices
        let joined = SoundCardSetup.joined(shared.setups, shared.devices)
        let wanted = Dictionary(joined.map { ($0.device, $0) }) { first, _ in first }
        for device in Set(shared.cards.keys).union(wanted.keys) where shared.cards[device]?.wanted != wanted[device] {
            shared.cards[device, default: Entry()].wanted = wanted[device]
            // A name that meant a card which has gone is still without it.
            shared.cards[device]?.state = areNew ? .opening : states[device] ?? .opening
        }
    }

    /// Looks how a card is that is open, and closes it if it is not wanted as it is.
    private func watch(_ entry: inout Entry, at now: MonotonicTime) {
        guard let card = entry.card else { return }
        entry.underruns = card.underrunCount
        if case .held(let holder) = standing(ofCard: entry.device?.card) {
            entry.state = .failed(.held(holder))
            card.requestStop()
        } else if entry.wanted != card.setup {
            card.requestStop()
        } else if card.state != .opening {
            entry.state = card.state
        }
        guard card.isClosed else { return }
        card.stop()
        if case .failed = card.state { entry.opensAt = now.advanced(byNanoseconds: Self.patience) }
        entry.card = nil
    }

    /// Opens a card if no other program has it.
    private func open(
        _ entry: inout Entry, _ device: SoundCard.Device?, _ board: OutputBoard, at now: MonotonicTime
    ) {
        guard let wanted = entry.wanted else { return }
        entry.device = device
        switch standing(ofCard: device?.card) {
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
        openCards.lazy.compactMap { $0.plan(of: output) }.first
    }

    /// Whether an output is one on a card, by its ID; any thread.
    package func isWanted(_ output: String) -> Bool {
        shared.withLock { $0.setups.contains { $0.parts.contains { $0.output == output } } }
    }

    private func standing(ofCard number: Int?) -> CardReservations.Standing {
        guard let number else { return .granted }
        return reserver.withLock { reserver in
            if reserver == nil { reserver = try? CardReserver(tell: tell) }
            return reserver?.standing(of: number) ?? .granted
        }
    }

    private func reserve(_ entries: some Collection<Entry>) {
        var wanted: [Int: Bool] = [:]
        for entry in entries {
            if let number = entry.device?.card {
                wanted[number, default: false] = wanted[number] == true || entry.card != nil
            }
        }
        reserver.withLock { $0?.reserve(wanted) }
    }

    /// What is known of the cards that play, by their names; any thread.
    package var figures: [String: OutputCard.Figures] {
        let known = openCards.flatMap { card in
            card.figures.map { figures in card.setup.names.map { ($0, figures) } } ?? []
        }
        return Dictionary(known) { first, _ in first }
    }

    /// Asks all cards to fall silent and close; returns at once.
    package func requestStop() {
        for card in openCards { card.requestStop() }
    }

    /// Waits until all cards are closed, for a second at most: a driver that hangs must not hold up the end of a run.
    package func stop() {
        requestStop()
        let open = openCards
        let end = MonotonicTime.now().advanced(byNanoseconds: 1_000_000_000)
        var none: [pollfd] = []
        while open.contains(where: { !$0.isClosed }), MonotonicTime.now() < end {
            poll(&none, until: MonotonicTime.now().advanced(byNanoseconds: 5_000_000))
        }
        for card in open where card.isClosed { card.stop() }
        reserver.withLock { $0.take() }?.stop()
    }
}
