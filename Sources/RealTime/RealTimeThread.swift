internal import CLinux
internal import Glibc
internal import Synchronization

/// How a thread is scheduled.
///
/// ```swift
/// assert(Scheduling.ofThisThread == .other)
/// assert(Scheduling.fifo(priority: 80).priority == 80)
/// ```
public enum Scheduling: Hashable, Sendable {
    /// SCHED_FIFO, which the user's limits allow: runs before all threads that are not real-time.
    case fifo(priority: Int32)
    /// SCHED_RR, which rtkit grants: like FIFO, except that threads of one priority take turns.
    case roundRobin(priority: Int32)
    /// The ordinary scheduler.
    case other

    /// How the calling thread is scheduled; allocates nothing and takes no lock.
    public static var ofThisThread: Scheduling { Scheduling(ofThread: 0) ?? .other }

    /// How a thread is scheduled now; nil if it has ended.
    ///
    /// - Parameter thread: the kernel's number of the thread, 0 for the caller.
    init?(ofThread thread: Int32) {
        // The C library's own call would return what it last set itself, whatever others have set since.
        var priority: Int32 = 0
        switch clinux_scheduling(thread, &priority) {
        case SCHED_FIFO: self = .fifo(priority: priority)
        case SCHED_RR: self = .roundRobin(priority: priority)
        case 0...: self = .other
        default: return nil
        }
    }

    /// Whether the thread runs before all threads that are not real-time.
    public var isRealTime: Bool { self != .other }

    /// The real-time priority, 1 to 99; 0 without.
    public var priority: Int32 {
        switch self {
        case .fifo(let priority), .roundRobin(let priority): priority
        case .other: 0
        }
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
    /// The kernel's number of the thread.
    package let id: Int32
    private let handle: pthread_t
    private let isJoined = Atomic(false)
    private let lastScheduling: Mutex<Scheduling>

    /// How the thread is scheduled now; once it has ended, as it was when this was last read.
    public var scheduling: Scheduling {
        lastScheduling.withLock { last in
            if !isJoined.load(ordering: .relaxed), let now = Scheduling(ofThread: id) { last = now }
            return last
        }
    }

    /// Whether the system gives this process threads of a real-time priority, 1 to 99.
    package static func isGranted(priority: Int32) -> Bool {
        let start = ThreadStart(name: "priority", body: {})
        guard case .success(let thread) = start.run(priority: priority, stackSize: 128 * 1024) else { return false }
        pthread_join(thread, nil)
        return true
    }

    /// Starts a thread, and waits until it runs.
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
            handle = thread
            lastScheduling = Mutex(.fifo(priority: priority))
        } else {
            handle = try start.run(priority: 0, stackSize: stackSize).get()
            lastScheduling = Mutex(.other)
        }
        id = start.waitForID()
    }

    /// Waits until the body has returned; a second call returns at once.
    public func join() {
        if !isJoined.exchange(true, ordering: .relaxed) { pthread_join(handle, nil) }
    }
}

/// Data for a new thread, passed through `pthread_create`.
private final class ThreadStart: @unchecked Sendable {
    // Safe because the semaphore may be used by any thread; the rest is constant or atomic.
    private let name: String
    private let body: @Sendable () -> Void
    private let id = Atomic<Int32>(0)
    /// Counts threads that have set ``id``; a semaphore, because its address must not change.
    private let hasID = ThreadStart.semaphore()

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }

    deinit {
        sem_destroy(hasID)
        hasID.deallocate()
    }

    /// The kernel's number of the thread that ``run(priority:stackSize:)`` has made.
    func waitForID() -> Int32 {
        while sem_wait(hasID) != 0 {}  // interrupted by a signal
        return id.load(ordering: .relaxed)
    }

    /// Lets the calling thread take SIGXCPU itself: while it runs too long, another may not run at all.
    ///
    /// Threads of Swift's pool block signals, and what they start inherits that.
    private static func admitOverrunSignal() {
        var overrun = sigset_t()
        sigemptyset(&overrun)
        sigaddset(&overrun, SIGXCPU)
        pthread_sigmask(SIG_UNBLOCK, &overrun, nil)
    }

    private static func semaphore() -> UnsafeMutablePointer<sem_t> {
        let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
        return semaphore
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
        ThreadStart.admitOverrunSignal()
        start.id.store(clinux_thread_id(), ordering: .relaxed)
        sem_post(start.hasID)
        clinux_set_thread_name(start.name)
        // One nanosecond instead of the default 50 us, which alone would be the largest jitter we have.
        clinux_set_timer_slack(1)
        let signalStack = clinux_make_signal_stack()
        defer { clinux_free_signal_stack(signalStack) }
        start.body()
        return nil
    }
}
