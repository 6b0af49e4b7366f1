internal import CLinux
internal import Glibc

/// Locks pages in memory, so that the output thread never waits for a disk.
///
/// ```swift
/// if !LockedMemory.lockStack(byteCount: 64 * 1024) {
///     // The thread runs all the same, but may have to wait for a disk.
/// }
/// ```
public enum LockedMemory {
    /// Locks all pages that the process uses, now and when it uses more of its present mappings.
    ///
    /// Future mappings are not locked: that would make thread creation fail under the usual limits.
    ///
    /// - Returns: whether the system allowed it.
    public static func lockProcess() -> Bool {
        // Merging pages into huge ones takes milliseconds, during which a stock kernel runs nothing else.
        _ = clinux_forgo_huge_pages()
        return clinux_lock_touched_memory() == 0
    }

    /// Reads all code in, so that a thread does not wait for the disk when it first gets to some of it.
    ///
    /// Takes as long as the disk does, so call it before anything must be on time.
    public static func loadCode() { clinux_load_code() }

    /// Locks a piece of memory and loads it at once.
    ///
    /// - Returns: whether the system allowed it.
    public static func lock(_ start: UnsafeRawPointer, byteCount: Int) -> Bool { mlock(start, byteCount) == 0 }

    /// Locks the part of the calling thread's stack that it will use.
    ///
    /// - Parameter byteCount: bytes below the caller's frame.
    /// - Returns: whether the system allowed it.
    public static func lockStack(byteCount: Int) -> Bool {
        var here: UInt8 = 0
        return withUnsafeMutablePointer(to: &here) { mlock(UnsafeRawPointer($0) - byteCount, byteCount) == 0 }
    }
}
