internal import CLinux
public import Glibc

/// A descriptor that any thread can make readable, to wake the one thread that polls it.
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
        // The only possible failure is a counter already at its limit, and then the poller wakes anyway.
        _ = write(descriptor, &one, 8)
    }

    /// Makes the descriptor quiet again; the polling thread only.
    public func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}

/// Waits until a descriptor is readable, or a host of them, or a deadline passes.
///
/// - Parameters:
///   - descriptors: entries as `poll` takes them; their `revents` are filled in.
///   - deadline: when to return at the latest; nil waits for ever.
public func poll(_ descriptors: inout [pollfd], until deadline: MonotonicTime?) {
    let timeout = deadline.map { max(0, $0.nanoseconds - MonotonicTime.now().nanoseconds) } ?? -1
    let count = descriptors.count
    let ready = descriptors.withUnsafeMutableBytes { clinux_ppoll($0.baseAddress, count, timeout) }
    // Interrupted, or out of memory for a moment: report nothing ready, the caller's loop comes round again.
    guard ready < 0 else { return }
    for index in descriptors.indices { descriptors[index].revents = 0 }
}
