internal import Glibc

/// Facts about the running kernel.
///
/// ```swift
/// let margin: Int64 = RunningKernel.isRealTime ? 50 : 200
/// assert(margin > 0)
/// ```
public enum RunningKernel {
    /// Whether it is a PREEMPT_RT kernel.
    ///
    /// Such a kernel runs a real-time thread nearly always at once, and sends what is in sequencer queues from a
    /// thread of low priority. Reads files, so it is not for the output thread.
    public static var isRealTime: Bool {
        var name = utsname()
        uname(&name)
        let version = withUnsafeBytes(of: &name.version) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return isRealTime(version: version) || access("/sys/kernel/realtime", F_OK) == 0
    }

    /// Whether the output of `uname -v` names such a kernel.
    static func isRealTime(version: String) -> Bool {
        // Not PREEMPT or PREEMPT_DYNAMIC: in those, work under a spin lock delays a thread.
        version.split(separator: " ").contains("PREEMPT_RT")
    }
}
