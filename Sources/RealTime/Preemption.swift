internal import Glibc

/// How readily the kernel lets a real-time thread in: what it says of itself.
public enum Preemption: String, Sendable {
    /// PREEMPT_RT, or `preempt=full`: nearly everywhere.
    case full
    /// Only where the kernel offers it; long work in between makes the thread wait.
    case voluntary
    /// It does not say.
    case unknown

    /// Asks the running kernel; reads files, so not for the output thread.
    public static func ofRunningKernel() -> Preemption {
        var name = utsname()
        uname(&name)
        let version = withUnsafeBytes(of: &name.version) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return of(
            version: version, isRealTimeKernel: contents(of: "/sys/kernel/realtime").hasPrefix("1"),
            commandLine: contents(of: "/proc/cmdline"), debug: contents(of: "/sys/kernel/debug/sched/preempt"))
    }

    /// What the kernel's words mean.
    ///
    /// - Parameters:
    ///   - version: as `uname -v` prints it.
    ///   - isRealTimeKernel: whether `/sys/kernel/realtime` holds 1.
    ///   - commandLine: what the kernel was started with.
    ///   - debug: the models it offers, the one in force in parentheses; empty if that may not be read.
    /// - Returns: how readily it lets a real-time thread in.
    static func of(version: String, isRealTimeKernel: Bool, commandLine: String, debug: String) -> Preemption {
        let words = version.split(separator: " ")
        if isRealTimeKernel || words.contains("PREEMPT_RT") { return .full }
        if let open = debug.firstIndex(of: "("), let close = debug.firstIndex(of: ")"), open < close {
            return ["full", "lazy"].contains(debug[debug.index(after: open)..<close]) ? .full : .voluntary
        }
        let chosen = commandLine.split(whereSeparator: \.isWhitespace).last { $0.hasPrefix("preempt=") }
        if let chosen, words.contains("PREEMPT_DYNAMIC") {
            return ["preempt=full", "preempt=lazy"].contains(chosen) ? .full : .voluntary
        }
        if words.contains("PREEMPT") { return .full }
        // Where the model can be chosen at boot, its default is the builder's secret.
        return words.contains("PREEMPT_DYNAMIC") ? .unknown : .voluntary
    }

    private static func contents(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
    }
}
