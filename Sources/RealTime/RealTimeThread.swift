internal import CLinux
internal import Glibc
internal import Synchronization

/// How a thread is scheduled, as the status shows it.
///
/// ```swift
/// let thread = try RealTimeThread(name: "ordinary", priority: 0) {}
/// thread.join()
/// assert(thread.scheduling == .other)
/// ```
public enum Scheduling: String, Sendable {
    /// SCHED_FIFO: runs before all threads that are not real-time.
    case fifo
    /// The ordinary scheduler, because priority 0 was asked for or real-time was refused.
    case other

    /// How the calling thread is scheduled.
    public static var ofThisThread: Scheduling {
        var parameters = sched_param()
        var policy: Int32 = 0
        pthread_getschedparam(pthread_self(), &policy, &parameters)
        return policy == SCHED_FIFO ? .fifo : .other
    }
}

/// A named thread outside the cooperative pool, for work that may block or must be on time.
///
/// ```swift
/// let results = TripleBuffer(0)
/// let thread = try RealTimeThread(name: "worker", priority: 40) { results.publish(42) }
/// thread.join()
/// assert(results.withLatest { $0 } == 42)
/// ```
public final class RealTimeThread: Sendable {
    /// How the thread is scheduled.
    public let scheduling: Scheduling
    private let handle: pthread_t
    private let isJoined = Atomic(false)

    /// Starts a thread.
    ///
    /// - Parameters:
    ///   - name: at most 15 characters, as `top -H` shows it.
    ///   - priority: SCHED_FIFO priority 1 to 99, or 0 for ordinary scheduling. If the system refuses real-time
    ///     scheduling the thread runs all the same, and ``scheduling`` says so.
    ///   - stackSize: bytes; explicit, because locked memory counts it whole.
    ///   - body: runs on the new thread until it returns.
    /// - Throws: when no thread at all can be made.
    public init(
        name: String, priority: Int32, stackSize: Int = 512 * 1024, body: @escaping @Sendable () -> Void
    ) throws(SystemCallError) {
        let start = ThreadStart(name: name, body: body)
        if priority > 0, case .success(let thread) = start.run(priority: priority, stackSize: stackSize) {
            (handle, scheduling) = (thread, .fifo)
        } else {
            (handle, scheduling) = (try start.run(priority: 0, stackSize: stackSize).get(), .other)
        }
    }

    /// Waits until the body has returned; a second call returns at once.
    public func join() {
        if !isJoined.exchange(true, ordering: .relaxed) { pthread_join(handle, nil) }
    }
}

/// Data for a new thread, passed through `pthread_create`.
private final class ThreadStart: Sendable {
    private let name: String
    private let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    func run(priority: Int32, stackSize: Int) -> Result<pthread_t, SystemCallError> {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stackSize)
        if priority > 0 {
            var parameters = sched_param()
            parameters.sched_priority = priority
            pthread_attr_setinheritsched(&attributes, Int32(PTHREAD_EXPLICIT_SCHED))
            pthread_attr_setschedpolicy(&attributes, SCHED_FIFO)
            pthread_attr_setschedparam(&attributes, &parameters)
        }
        let retained = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let code = pthread_create(&thread, &attributes, ThreadStart.main, retained.toOpaque())
        guard code == 0 else {
            retained.release()
            return .failure(SystemCallError(operation: "pthread_create \(name)", code: code))
        }
        return .success(thread)
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        guard let argument else { return nil }
        let start = Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
        clinux_set_thread_name(start.name)
        // One nanosecond instead of the default 50 us, which alone would be the largest jitter we have.
        clinux_set_timer_slack(1)
        let signalStack = clinux_make_signal_stack()
        defer { clinux_free_signal_stack(signalStack) }
        start.body()
        return nil
    }
}
