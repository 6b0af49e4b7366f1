internal import Glibc

/// Number of threads that run or wait for a processor.
///
/// ```swift
/// RunQueue.prepare()
/// assert(RunQueue.countOthers() >= 0)
/// ```
public enum RunQueue {
    private static let file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC)
    /// Longest text, in bytes: five numbers and some separators are shorter.
    private static let longestText = 128

    /// Counts once, so that the file is open and in memory when a real-time thread asks.
    public static func prepare() { _ = countOthers() }

    /// The present count without the calling thread; 0 if the kernel does not tell.
    ///
    /// One short system call, no allocation: the output thread may call it.
    public static func countOthers() -> Int {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longestText) { text in
            let count = pread(file, text.baseAddress, longestText, 0)
            return max(0, running(in: text.prefix(max(0, count))) - 1)
        }
    }

    /// The number before the slash of a line such as `0.20 0.18 0.12 1/80 11206`; 0 if there is none.
    static func running(in line: some Collection<UInt8>) -> Int {
        var number = 0
        for byte in line {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = (number * 10 + Int(byte & 0xF)) % 1_000_000
            case UInt8(ascii: "/"): return number
            default: number = 0
            }
        }
        return 0
    }
}
