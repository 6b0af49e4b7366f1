internal import CLinux

/// Gives one thread the time to finish its work when the process crashes.
package enum Crash {
    /// Makes faults and `abort()` wait for that thread; call once, from the executable.
    ///
    /// The process then ends as it would have, with the same exit status and core dump.
    ///
    /// - Parameter milliseconds: the longest wait.
    package static func waitForFinisher(atMost milliseconds: Int32 = 200) { clinux_handle_crashes(milliseconds) }

    /// Has that thread finish now, for a process that is about to end otherwise; returns when it has, or after too long.
    ///
    /// Returns at once if there is no such thread, or none any more.
    package static func finishNow(atMost milliseconds: Int32) { clinux_finish_now(milliseconds) }

    /// Whether the thread must finish: another one has crashed, or the process is about to end; no lock, no system call.
    package static var mustFinish: Bool { clinux_must_finish() != 0 }
}

extension TripleBuffer {
    /// Makes the calling thread, the reader, the one that a crash waits for and wakes from ``wait(seen:until:)``.
    ///
    /// A crash of this thread itself ends the process at once.
    package func finishBeforeCrash() { clinux_finish_before_crash(wakingWord) }

    /// Reports that the calling thread has finished, crash or not.
    package func finished() { clinux_finished(wakingWord) }
}
