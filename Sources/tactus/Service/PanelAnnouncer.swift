import DBus
import Essentials
import Glibc
import Logging
import RealTime

/// Keeps the panel announced by mDNS as long as it exists, on a thread of its own.
///
/// It needs a running Avahi and delays nobody: where there is none, nothing is announced until there is.
final class PanelAnnouncer: Sendable {
    private let end: WakeUp
    private let thread: RealTimeThread

    /// Most descriptors that it opens.
    static let descriptorsNeeded = 2
    /// Time between two tries to reach the bus, in nanoseconds.
    private static let retryInterval: Int64 = 10_000_000_000

    /// - Parameters:
    ///   - port: the TCP port of the panel, which is open to the network.
    ///   - log: where to say under which name it is announced.
    /// - Throws: when there are no descriptors or threads left.
    init(port: UInt16, log: Logger) throws(SystemCallError) {
        let end = try WakeUp()
        self.end = end
        thread = try RealTimeThread(name: "tactus-announce", priority: 0, stackSize: 128 * 1024) {
            var error: SystemCallError?
            while let failure = Self.announce(port, until: end, log) {
                if failure != error { log.debug("panel not announced", metadata: ["error": "\(failure)"]) }
                error = failure
                var descriptors = [pollfd(fd: end.descriptor, events: Int16(POLLIN), revents: 0)]
                poll(&descriptors, until: MonotonicTime.now().advanced(byNanoseconds: Self.retryInterval))
                if descriptors[0].revents != 0 { return }
            }
        }
    }

    /// Withdraws the announcement.
    func stop() {
        end.signal()
        thread.join()
    }

    /// Announces until asked to end, or until something fails.
    ///
    /// The end of the connection withdraws the announcement.
    ///
    /// - Returns: what failed; nil if asked to end.
    private static func announce(_ port: UInt16, until end: WakeUp, _ log: Logger) -> SystemCallError? {
        do throws(SystemCallError) {
            let connection = try BusConnection(variable: environment)
            var announcement = PanelAnnouncement(port: port)
            var descriptors = [end.descriptor, connection.descriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            try connection.send(announcement.connected())
            while true {
                poll(&descriptors, until: nil)
                if descriptors[0].revents != 0 { return nil }
                guard descriptors[1].revents != 0 else { continue }
                for message in try connection.receive() {
                    let before = announcement.announcedName
                    try connection.send(announcement.receive(message))
                    if let name = announcement.announcedName, name != before {
                        log.notice("the panel is announced in the network", metadata: ["name": "\(name)"])
                    }
                }
            }
        } catch {
            return error
        }
    }
}
