import ControlServer
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

    /// Most descriptors that it opens: a thread's end, the bus, and for a moment one that asks for addresses.
    static let descriptorsNeeded = 3
    /// Time between two tries to reach the bus, and between two looks for the panel's interface, in nanoseconds.
    private static let retryInterval: Int64 = 10_000_000_000

    /// - Parameters:
    ///   - address: where the panel can be reached from the network.
    ///   - log: where to say under which name it is announced.
    /// - Throws: when there are no descriptors or threads left.
    init(address: HTTPAddress, log: Logger) throws(SystemCallError) {
        let end = try WakeUp()
        self.end = end
        thread = try RealTimeThread(name: "tactus-announce", priority: 0, stackSize: 128 * 1024) {
            var error: SystemCallError?
            while let failure = Self.announce(address, until: end, log) {
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
    /// The end of the connection withdraws the announcement. An interface that went and comes back has another number,
    /// so that a panel with one address is announced anew then.
    ///
    /// - Returns: what failed; nil if asked to end.
    private static func announce(_ address: HTTPAddress, until end: WakeUp, _ log: Logger) -> SystemCallError? {
        do throws(SystemCallError) {
            let interface = try Self.interface(of: address)
            let connection = try BusConnection()
            var announcement = PanelAnnouncement(port: UInt16(address.port), on: interface)
            try connection.send(announcement.connected())
            while true {
                var descriptors = [pollfd(fd: end.descriptor, events: Int16(POLLIN), revents: 0), connection.awaited]
                let look = MonotonicTime.now().advanced(byNanoseconds: retryInterval)
                poll(&descriptors, until: interface == .all ? nil : look)
                if descriptors[0].revents != 0 { return nil }
                guard try Self.interface(of: address) == interface else { throw gone(address) }
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

    private static func interface(of address: HTTPAddress) throws(SystemCallError) -> PanelAddress.Interface {
        guard let interface = PanelAddress.interface(of: address) else { throw gone(address) }
        return interface
    }

    private static func gone(_ address: HTTPAddress) -> SystemCallError {
        SystemCallError(operation: "interface of \(address.host)", code: EADDRNOTAVAIL)
    }
}
