internal import Glibc
package import Logging
package import RealTime
internal import Synchronization

/// Saves the state for the next run, on a thread of its own, because a disk may be slow.
package final class StateKeeper: Sendable {
    /// What the last run saved.
    package let found: KeptState
    private let writer: StateWriter
    private let thread: RealTimeThread
    /// Holds the folder for this run; nil if it could not be taken.
    private let lock: Int32?

    /// Reads what the last run saved, and starts the thread.
    ///
    /// An unreadable file is renamed. That, and a state that cannot be saved, are warnings in the log and the status. If
    /// another run has the folder, this one begins with the settings of that, and saves nothing.
    ///
    /// - Parameters:
    ///   - directory: created if missing; nil if there is no place for it.
    ///   - log: receives problems.
    ///   - replace: writes a file of this path, completely or not at all.
    /// - Throws: when the system gives no thread or no descriptor.
    package init(
        directory: String?, log: Logger,
        replace: @escaping @Sendable (String, [UInt8]) throws(SystemCallError) -> Void = WholeFile.replace
    ) throws(SystemCallError) {
        let folder = directory.map(StateFolder.init(path:))
        var trouble = folder == nil ? "there is no home folder" : nil
        do {
            lock = try folder?.take()
        } catch {
            (lock, trouble) = (nil, error.description)
        }
        let writer = try StateWriter(trouble == nil ? folder : nil, trouble, log: log, replace: replace)
        do {
            var found = try folder?.read() ?? KeptState()
            // What plays in another run is that one's.
            if trouble != nil { (found.playing, found.isInSong) = ([], false) }
            self.found = found
        } catch {
            found = KeptState()
            writer.setAside(error)
        }
        writer.saved(found)
        self.writer = writer
        thread = try RealTimeThread(name: "tactus-state", priority: 0) { writer.run() }
    }

    /// What the user should know of it.
    var notices: [Notice] { writer.notices }

    /// Saves the newest state: at once if a device begins to play, else within a second, or within a minute if the user
    /// did not set anything.
    ///
    /// Any thread; never waits for a disk.
    func keep(_ state: KeptState, _ change: WriteSchedule.Change) { writer.put(state, change) }

    /// Writes what is not written yet, and ends the thread.
    ///
    /// If the disk hangs, the thread is left to wait for it, and what was not written is lost.
    func close() {
        if writer.close(until: .now().advanced(byNanoseconds: Self.patience)) { thread.join() }
        if let lock { Glibc.close(lock) }
    }

    /// Longest wait for the disk at the end, in nanoseconds.
    private static let patience: Int64 = 1_000_000_000
}

/// The state to write, and the thread that writes it.
private final class StateWriter: Sendable {
    private struct Contents {
        var unwritten: KeptState?
        /// The devices that the file says are playing.
        var savedAsPlaying: Set<String> = []
        var schedule = WriteSchedule(at: .now())
        var isClosed = false
        /// Why nothing can be saved.
        var trouble: String?
        /// What was wrong with the last run's file.
        var unreadable: String?

        /// Whether the unwritten state has devices playing of which the file does not know it.
        var unwrittenStarts: Bool { unwritten.map { !savedAsPlaying.isSuperset(of: $0.playing) } ?? false }
    }

    private let contents = Mutex(Contents())
    private let wakeUp: WakeUp
    private let ended: WakeUp
    private let folder: StateFolder?
    private let log: Logger
    private let replace: @Sendable (String, [UInt8]) throws(SystemCallError) -> Void

    /// Without a folder nothing is saved, and `trouble` is why.
    init(
        _ folder: StateFolder?, _ trouble: String?, log: Logger,
        replace: @escaping @Sendable (String, [UInt8]) throws(SystemCallError) -> Void
    ) throws(SystemCallError) {
        self.folder = folder
        self.log = log
        self.replace = replace
        (wakeUp, ended) = (try WakeUp(), try WakeUp())
        note(trouble: trouble)
    }

    func setAside(_ error: KeptState.Unreadable) {
        guard let folder else { return }
        let place = folder.setAside()
        let outcome = place.map { "it was moved to \($0)" } ?? "it could not be moved away"
        log.warning(
            "the state of the last run cannot be read",
            metadata: ["file": "\(folder.file)", "error": "\(error.reason)", "outcome": "\(outcome)"])
        contents.withLock { $0.unreadable = "\(folder.file): \(error.reason); \(outcome)" }
    }

    var notices: [Notice] {
        let (trouble, unreadable) = contents.withLock { contents in
            let isHanging = contents.schedule.isHanging(at: .now())
            return (contents.trouble ?? (isHanging ? Self.hanging : nil), contents.unreadable)
        }
        return [trouble.map(Notice.stateNotKept), unreadable.map(Notice.stateUnreadable)].compactMap(\.self)
    }

    private static let hanging = "the disk does not answer"

    func put(_ state: KeptState, _ change: WriteSchedule.Change) {
        contents.withLock { contents in
            contents.unwritten = state
            contents.schedule.changed(contents.unwrittenStarts ? .start : change, at: .now())
        }
        wakeUp.signal()
    }

    /// Notes what the file contains.
    func saved(_ state: KeptState) { contents.withLock { $0.savedAsPlaying = Set(state.playing) } }

    /// Has the thread write the rest and end; waits for that.
    ///
    /// - Returns: false if it does not end by the deadline.
    func close(until deadline: MonotonicTime) -> Bool {
        contents.withLock { $0.isClosed = true }
        wakeUp.signal()
        var descriptors = [pollfd(fd: ended.descriptor, events: Int16(POLLIN), revents: 0)]
        while descriptors[0].revents == 0, MonotonicTime.now() < deadline { poll(&descriptors, until: deadline) }
        guard descriptors[0].revents == 0 else { return true }
        note(trouble: Self.hanging)
        return false
    }

    // On the thread.

    func run() {
        defer { ended.signal() }
        while true {
            let (isClosed, due) = contents.withLock { ($0.isClosed, $0.schedule.due) }
            if isClosed || due.map({ $0 <= .now() }) == true { write() }
            guard !isClosed else { return }
            var descriptors = [pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)]
            poll(&descriptors, until: contents.withLock(\.schedule.due))
            wakeUp.clear()
        }
    }

    private func write() {
        let taken = contents.withLock { contents in
            contents.schedule.begins(at: .now())
            defer { contents.unwritten = nil }
            return contents.unwritten
        }
        guard let folder, let state = taken else { return contents.withLock { $0.schedule.succeeded() } }
        do throws(SystemCallError) {
            try replace(folder.file, state.json)
            contents.withLock { contents in
                contents.schedule.succeeded()
                contents.savedAsPlaying = Set(state.playing)
                // Put while the file still said that they play.
                if contents.unwrittenStarts { contents.schedule.changed(.start, at: .now()) }
            }
            note(trouble: nil)
        } catch {
            contents.withLock { contents in
                contents.unwritten = contents.unwritten ?? state
                contents.schedule.failed(at: .now())
            }
            note(trouble: error.description)
        }
    }

    /// Notes why nothing can be saved, or that it was saved, and logs changes.
    private func note(trouble: String?) {
        let before = contents.withLock { contents in
            defer { contents.trouble = trouble }
            return contents.trouble
        }
        if let trouble, before == nil {
            log.warning("state not kept for the next run", metadata: ["error": "\(trouble)"])
        } else if trouble == nil, before != nil {
            log.notice("state is kept again")
        }
    }
}
