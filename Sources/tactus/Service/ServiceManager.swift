import Essentials
import Gateway
import Glibc
import Logging
import RealTime
import Synchronization

/// Reports the state of this run to the service manager that started it, such as systemd.
///
/// Errors are logged; they never end or delay a run. Any thread may call it.
final class ServiceManager: Sendable {
    private let socket: NotifySocket
    private let interval: Int64?
    private let log: Logger
    private let flushLog: @Sendable () -> Void
    private let end: WakeUp
    private let watcher = Mutex<RealTimeThread?>(nil)
    /// The last error, so that a repeated one is logged only once.
    private let failure = Mutex<SystemCallError?>(nil)

    /// Most descriptors that it opens.
    static let descriptorsNeeded = 2

    /// Finds the manager that the environment names.
    ///
    /// - Parameters:
    ///   - log: gets problems, and that the clock hangs.
    ///   - flushLog: waits, not for long, until the log has been written.
    /// - Returns: nil if there is none.
    static func found(log: Logger, flushLog: @escaping @Sendable () -> Void) -> ServiceManager? {
        let request = ServiceRequest(process: getpid(), variable: environment)
        for problem in request.problems { log.warning("service manager", metadata: ["error": "\(problem)"]) }
        guard let address = request.address else { return nil }
        do {
            return try ServiceManager(address, interval: request.interval, log: log, flushLog: flushLog)
        } catch {
            log.warning("service manager", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private init(
        _ address: UnixAddress, interval: Int64?, log: Logger, flushLog: @escaping @Sendable () -> Void
    ) throws(SystemCallError) {
        socket = try NotifySocket(address)
        end = try WakeUp()
        self.interval = interval
        self.log = log
        self.flushLog = flushLog
    }

    /// Starts a thread that reports when the clock runs, and if the manager wants it, that it still does.
    ///
    /// - Parameters:
    ///   - gateway: the owner of the clock.
    ///   - isRealTime: whether the thread has a real-time priority, so that a busy machine does not cause a restart.
    func watch(_ gateway: Gateway, isRealTime: Bool) {
        do {
            let thread = try RealTimeThread(
                name: "tactus-watchdog", priority: isRealTime ? 1 : 0, stackSize: 128 * 1024
            ) {
                [self] in report(on: gateway)
            }
            watcher.withLock { $0 = thread }
        } catch {
            log.warning("service manager", metadata: ["error": "\(error)"])
        }
    }

    private func report(on gateway: Gateway) {
        var watch = ClockWatch(interval: interval)
        var descriptors = [pollfd(fd: end.descriptor, events: Int16(POLLIN), revents: 0)]
        while descriptors[0].revents == 0 {
            let now = MonotonicTime.now()
            switch watch.check(wakesAt: gateway.clockWakesAt, at: now) {
            case nil: break
            case .ready: watch.isReadyTold = send("READY=1")
            case .alive: send("WATCHDOG=1")
            case .hung(let overdue):
                log.error("the clock hangs", metadata: ["milliseconds": "\(overdue / 1_000_000)"])
                guard interval != nil else { break }
                // Tells the manager now, instead of when its timeout ends. It kills the run at once, so the log goes first.
                flushLog()
                send("WATCHDOG=trigger")
            }
            guard let deadline = watch.nextCheck(after: now) else { return }
            poll(&descriptors, until: deadline)
        }
    }

    /// Reports a line for people, which `systemctl status` shows.
    func tell(_ line: String) { send("STATUS=\(line.withoutControls)") }

    /// Reports that the run ends; the clock is no longer watched.
    func stop() {
        end.signal()
        watcher.withLock { $0.take() }?.join()
        send("STOPPING=1\nSTATUS=stopping")
    }

    /// - Returns: false if it could not be sent.
    @discardableResult
    private func send(_ text: String) -> Bool {
        do {
            try socket.send(text)
            failure.withLock { $0 = nil }
            return true
        } catch {
            let isNew = failure.withLock { last in
                defer { last = error }
                return last != error
            }
            if isNew { log.warning("service manager", metadata: ["error": "\(error)"]) }
            return false
        }
    }
}
