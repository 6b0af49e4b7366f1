internal import Synchronization

/// Something that listens at an address: at once, or as soon as this machine has the address.
final class Listener<Opened: Sendable>: Sendable {
    private let state: Mutex<State>
    private let attempts = Mutex<Task<Void, Never>?>(nil)

    private enum State {
        case waiting(ListenError)
        case open(Opened)
    }

    /// Opens it, or begins to wait.
    ///
    /// While it waits it tries again, whatever the next attempts fail by: by then the program runs.
    ///
    /// - Parameters:
    ///   - pause: between two attempts.
    ///   - open: one attempt.
    /// - Throws: when the address cannot be used, and not only because this machine does not have it yet.
    init(
        every pause: Duration = .seconds(1), _ open: @escaping @Sendable () async throws(ListenError) -> Opened
    ) async throws(ListenError) {
        do throws(ListenError) {
            state = Mutex(.open(try await open()))
        } catch {
            guard error.isAddressAway else { throw error }
            state = Mutex(.waiting(error))
            let task = Task { await self.wait(pause, open) }
            attempts.withLock { $0 = task }
        }
    }

    private func wait(_ pause: Duration, _ open: () async throws(ListenError) -> Opened) async {
        while (try? await Task.sleep(for: pause)) != nil {
            do throws(ListenError) {
                let opened = try await open()
                return state.withLock { $0 = .open(opened) }
            } catch {
                state.withLock { $0 = .waiting(error) }
            }
        }
    }

    /// What is open; nil while it waits.
    var opened: Opened? { state.withLock { if case .open(let opened) = $0 { opened } else { nil } } }

    /// Why it waits; nil once it is open.
    var trouble: ListenError? { state.withLock { if case .waiting(let error) = $0 { error } else { nil } } }

    /// Ends the attempts.
    ///
    /// - Returns: what is open, for the caller to close.
    func stop() async -> Opened? {
        let task = attempts.withLock(\.self)
        task?.cancel()
        await task?.value
        return opened
    }
}
