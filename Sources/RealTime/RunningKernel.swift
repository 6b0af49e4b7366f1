internal import Glibc

/// What the running kernel says of itself.
public enum RunningKernel {
    /// Whether it is a PREEMPT_RT kernel: one that lets a real-time thread in nearly everywhere, and sends what lies in
    /// sequencer queues from an ordinary thread.
    ///
    /// Asking reads files, so it is not for the output thread.
    public static var isRealTime: Bool {
        var name = utsname()
        uname(&name)
        let version = withUnsafeBytes(of: &name.version) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return isRealTime(version: version) || access("/sys/kernel/realtime", F_OK) == 0
    }

    /// Whether the words of `uname -v` name such a kernel.
    static func isRealTime(version: String) -> Bool {
        // Not PREEMPT or PREEMPT_DYNAMIC: however they preempt, work under a spin lock holds a thread up.
        version.split(separator: " ").contains("PREEMPT_RT")
    }
}
