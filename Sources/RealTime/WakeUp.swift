internal import CLinux
public import Glibc

/// A descriptor that any thread can make readable, to wake the one thread that polls it.
///
/// ```swift
/// import Glibc
///
/// let wakeUp = try WakeUp()
/// wakeUp.signal()
/// var descriptors = [pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)]
/// poll(&descriptors, until: nil)
/// assert(descriptors[0].revents == Int16(POLLIN))
/// wakeUp.clear()
/// ```
public final class WakeUp: Sendable {
    /// The descriptor to poll for input.
    public let descriptor: Int32

    public init() throws(SystemCallError) {
        descriptor = try checked("eventfd") { clinux_eventfd() }
    }

    deinit { close(descriptor) }

    /// Wakes the poller; any thread, never blocks.
    public func signal() {
        var one: UInt64 = 1
        // The only possible failure is a counter at its limit, and then the poller wakes anyway.
        _ = write(descriptor, &one, 8)
    }

    /// Makes the descriptor unreadable again; the polling thread only.
    public func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}

/// Waits until one of the descriptors is ready or a deadline passes.
///
/// - Parameters:
///   - descriptors: entries as for `poll`; `revents` is filled in.
///   - deadline: latest return; nil waits forever.
public func poll(_ descriptors: inout [pollfd], until deadline: MonotonicTime?) {
    let timeout = deadline.map { max(0, $0.nanoseconds - MonotonicTime.now().nanoseconds) } ?? -1
    let count = descriptors.count
    let ready = descriptors.withUnsafeMutableBytes { clinux_ppoll($0.baseAddress, count, timeout) }
    // Interrupted, or out of memory for a moment: report nothing ready, and the caller tries again.
    guard ready < 0 else { return }
    for index in descriptors.indices { descriptors[index].revents = 0 }
}
