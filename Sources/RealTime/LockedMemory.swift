internal import CLinux
internal import Glibc

/// Keeping pages in memory, so that the output thread never waits for a disk.
public enum LockedMemory {
    /// Locks what the whole process touches, now and as it touches more of what it has.
    ///
    /// Future mappings stay free: locking those would make thread creation fail under the usual limits.
    ///
    /// - Returns: whether the system allowed it.
    public static func lockProcess() -> Bool {
        // Gathering pages into huge ones takes milliseconds in which a stock kernel runs nothing else.
        _ = clinux_forgo_huge_pages()
        return clinux_lock_touched_memory() == 0
    }

    /// Locks a piece of memory, bringing it in at once.
    ///
    /// - Returns: whether the system allowed it.
    public static func lock(_ start: UnsafeRawPointer, byteCount: Int) -> Bool { mlock(start, byteCount) == 0 }

    /// Locks the part of the calling thread's stack that it is going to use.
    ///
    /// - Parameter byteCount: below the caller's frame.
    /// - Returns: whether the system allowed it.
    public static func lockStack(byteCount: Int) -> Bool {
        var here: UInt8 = 0
        return withUnsafeMutablePointer(to: &here) { mlock(UnsafeRawPointer($0) - byteCount, byteCount) == 0 }
    }
}
