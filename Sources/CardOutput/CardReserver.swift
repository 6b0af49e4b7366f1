internal import RealTime
internal import DBus
internal import Glibc
internal import Synchronization

/// Reserves sound cards on the session's bus, as ``CardReservations`` decides, on a thread of its own.
///
/// Without libsystemd, or without such a bus, as for a system service, any card may be opened until it answers. The bus
/// is tried again as long as a card is wanted.
package final class CardReserver: Sendable {
    private let change: WakeUp
    private let shared = Mutex(Shared())
    private let thread = Mutex<RealTimeThread?>(nil)
    private let tell: @Sendable (BusNews) -> Void

    private struct Shared {
        /// The cards that are wanted, by ALSA's numbers of them, and whether each is open.
        var wanted: [Int: Bool] = [:]
        var standings: [Int: CardReservations.Standing] = [:]
        /// Whether the bus has failed, and has not answered since.
        var isWithoutBus = false
        var isEnding = false
    }

    /// Most descriptors that it opens: one to wake its thread, and the bus.
    package static let descriptorsNeeded = 2

    /// - Parameter tell: called on the reserver's thread with what is to be said of the bus.
    /// - Throws: when there are no descriptors or threads left.
    init(tell: @escaping @Sendable (BusNews) -> Void = { _ in }) throws(SystemCallError) {
        self.tell = tell
        change = try WakeUp()
        let thread = try RealTimeThread(name: "tactus-reserve", priority: 0, stackSize: 128 * 1024) { [self] in run() }
        self.thread.withLock { $0 = thread }
    }

    /// Says which cards are wanted, by ALSA's numbers of them, and whether each is open; returns at once.
    func reserve(_ wanted: [Int: Bool]) {
        let isNew = shared.withLock { shared in
            guard shared.wanted != wanted else { return false }
            shared.wanted = wanted
            shared.standings = shared.standings.filter { wanted[$0.key] != nil }
            return true
        }
        if isNew { change.signal() }
    }

    /// Whether a card may be used.
    func standing(of card: Int) -> CardReservations.Standing {
        shared.withLock { $0.isWithoutBus ? .granted : $0.standings[card] ?? .asking }
    }

    /// Gives all cards back, which are to be closed before, and ends the thread.
    func stop() {
        shared.withLock { ($0.wanted, $0.isEnding) = ([:], true) }
        change.signal()
        thread.withLock { $0.take() }?.join()
    }

    private func run() {
        var attempts = BusAttempts()
        repeat {
            do throws(SystemCallError) {
                return try serve(&attempts)
            } catch {
                let isEnding = shared.withLock { shared in
                    (shared.isWithoutBus, shared.standings) = (true, [:])
                    return shared.isEnding
                }
                // At a logout, the bus ends with the session, and so do we.
                if let news = attempts.failed(error, at: .now()), !isEnding { tell(news) }
            }
        } while wait(for: attempts)
    }

    /// Reserves cards on a new connection until the thread is to end.
    ///
    /// - Parameter attempts: is told that the bus answers.
    /// - Throws: when the connection fails; all reservations have ended with it.
    private func serve(_ attempts: inout BusAttempts) throws(SystemCallError) {
        let connection = try BusConnection(to: .session)
        var reservations = CardReservations()
        var messages: [BusMessage] = []
        while true {
            // Before the messages: who asks for a card must not be told that it is free while it is being opened.
            let (wanted, isEnding) = shared.withLock { ($0.wanted, $0.isEnding) }
            try connection.send(reservations.take(wanted, at: .now()))
            for message in messages { try connection.send(reservations.receive(message, at: .now())) }
            try connection.send(reservations.timePassed(to: .now()))
            publish(reservations, asAnswered: !messages.isEmpty)
            if !messages.isEmpty { attempts.answered(at: .now()) }
            if let news = attempts.timePassed(to: .now()) { tell(news) }
            if isEnding { return }  // which ends the connection, and with it what is left
            var descriptors = [
                pollfd(fd: change.descriptor, events: Int16(POLLIN), revents: 0), connection.awaited,
            ]
            poll(&descriptors, until: [reservations.nextDeadline, attempts.backAt].compactMap(\.self).min())
            if descriptors[0].revents != 0 { change.clear() }
            messages = try connection.receive()
        }
    }

    /// Waits until the bus is to be tried again.
    ///
    /// - Returns: false if the thread is to end.
    private func wait(for attempts: BusAttempts) -> Bool {
        while true {
            let (isWanted, isEnding) = shared.withLock { (!$0.wanted.isEmpty, $0.isEnding) }
            if isEnding { return false }
            let next = isWanted ? attempts.next : nil
            if let next, next <= .now() { return true }
            var descriptors = [pollfd(fd: change.descriptor, events: Int16(POLLIN), revents: 0)]
            poll(&descriptors, until: next)
            if descriptors[0].revents != 0 { change.clear() }
        }
    }

    private func publish(_ reservations: CardReservations, asAnswered: Bool) {
        shared.withLock { shared in
            if asAnswered { shared.isWithoutBus = false }
            for card in shared.wanted.keys { shared.standings[card] = reservations.standing(of: card) }
        }
    }
}
