internal import CLinux

/// The limit under which others grant real-time scheduling: a thread must sleep now and then.
package enum RealTimeLimit {
    /// Whether a thread has ever run for too long; true before any thread has ordinary scheduling for that.
    package static var wasExceeded: Bool { clinux_overran_real_time() != 0 }

    /// Limits how long real-time threads of this process may run without sleeping; it cannot be raised again.
    ///
    /// A thread that runs for half of that gets ordinary scheduling, by the signal SIGXCPU. The kernel ends the process if
    /// a thread runs for all of it, which happens only if the thread blocks that signal.
    ///
    /// - Parameters:
    ///   - thread: the kernel's number of the thread that gets ordinary scheduling in any case.
    ///   - microseconds: longest time without a sleep.
    ///   - overrun: made readable when that has happened; it is kept until the process ends.
    /// - Throws: if the system refuses the limit.
    package static func set(thread: Int32, microseconds: Int64, overrun: WakeUp) throws(SystemCallError) {
        _ = Unmanaged.passRetained(overrun)
        try checked("setrlimit RLIMIT_RTTIME") {
            clinux_limit_real_time(thread, microseconds, overrun.descriptor)
        }
    }
}
