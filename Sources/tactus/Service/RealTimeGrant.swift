import Gateway
import Glibc
import RealTime
import DBus
import Synchronization

/// Asks rtkit for the clock's real-time scheduling, and watches whether the clock keeps it, on a thread of its own.
///
/// It delays nobody: without rtkit, or until rtkit answers, the clock runs with ordinary scheduling.
final class RealTimeGrant: Sendable {
    private let end: WakeUp
    private let thread = Mutex<RealTimeThread?>(nil)

    /// Most descriptors that it opens: an end, an overrun, and the bus.
    static let descriptorsNeeded = 2 + RealTimeKit.descriptorsNeeded
    /// Longest wait for rtkit in nanoseconds; the bus may have to start it first.
    private static let patience: Int64 = 20_000_000_000

    /// - Throws: when there are no descriptors left.
    init() throws(SystemCallError) { end = try WakeUp() }

    /// Asks in the background; call it once.
    ///
    /// - Parameters:
    ///   - id: the kernel's number of the clock's thread.
    ///   - priority: the priority wanted, 1 to 99.
    ///   - report: called with the answer, and again if the clock loses what was granted.
    func ask(for id: Int32, priority: Int32, _ report: @escaping @Sendable (RealTimeReport) -> Void) {
        do throws(SystemCallError) {
            let overrun = try WakeUp()
            let asking = try RealTimeThread(name: "tactus-rtkit", priority: 0, stackSize: 128 * 1024) { [end] in
                let deadline = MonotonicTime.now().advanced(byNanoseconds: Self.patience)
                switch RealTimeKit.ask(for: id, priority: priority, overrun: overrun, orUntil: end, deadline: deadline)
                {
                case nil: break
                case .refused(let reason): report(.refused(reason))
                case .granted:
                    report(.granted)
                    var descriptors = [end, overrun].map {
                        pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0)
                    }
                    while descriptors.allSatisfy({ $0.revents == 0 }) { poll(&descriptors, until: nil) }
                    if descriptors[1].revents != 0 { report(.overrun) }
                }
            }
            thread.withLock { $0 = asking }
        } catch {
            report(.refused("rtkit cannot be asked (\(error))"))
        }
    }

    /// Asks and watches no longer; the clock keeps what it has.
    func stop() {
        end.signal()
        thread.withLock { $0.take() }?.join()
    }
}
