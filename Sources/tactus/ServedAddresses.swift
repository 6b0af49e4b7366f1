import ControlServer
import Gateway
import Logging
import Synchronization

/// Watches whether this machine has the addresses at which others reach the gateway, and tells when it has not.
///
/// The servers themselves wait, and go on once the address is there or back.
final class ServedAddresses: Sendable {
    /// One of them.
    struct Place: Sendable {
        /// What is there, such as `the panel`.
        var name: String
        var address: HTTPAddress
        /// Where to choose another.
        var setting: String
        /// Why the server does not listen yet; nil if it does.
        var trouble: @Sendable () -> ListenError?

        /// Tells that it cannot be reached now.
        ///
        /// - Parameter local: the addresses of this machine; not asked for where it cannot matter.
        /// - Returns: nil if it can be reached.
        func notice(among local: () -> [MachineAddress]) -> Notice? {
            let trouble = trouble()
            if let trouble, !trouble.isAddressAway {
                return .addressTaken(name, reason: trouble.reason, setting: setting)
            }
            let isThere = address.isLoopback || address.isWildcard || local().contains { $0.text == address.host }
            return trouble != nil || !isThere ? .addressAway(name, address: address.host, setting: setting) : nil
        }

        /// Whether it can never be away from now on.
        fileprivate var isCertain: Bool { trouble() == nil && (address.isLoopback || address.isWildcard) }
    }

    private let places: [Place]
    private let local: @Sendable () -> [MachineAddress]
    private let log: Logger
    private let told = Mutex<[Notice]>([])

    /// - Parameters:
    ///   - places: of all servers.
    ///   - local: gives the addresses of this machine.
    ///   - log: is told once of each that goes, and that it is back.
    init(_ places: [Place], local: @escaping @Sendable () -> [MachineAddress] = { MachineAddress.all }, log: Logger) {
        self.places = places
        self.local = local
        self.log = log
        look()
    }

    /// Those that cannot be reached, as of the last look.
    var notices: [Notice] { told.withLock(\.self) }

    /// Looks whether the addresses are there.
    func look() {
        let notices = places.compactMap { $0.notice(among: local) }
        let before = told.withLock { told in
            defer { told = notices }
            return told
        }
        for notice in notices where !before.contains(notice) {
            log.warning("\(notice.message)", metadata: ["fix": "\(notice.fix)"])
        }
        if notices.isEmpty, !before.isEmpty { log.notice("all addresses of this gateway are there") }
    }

    /// Looks every two seconds until cancelled; ends at once if no address can be away.
    func watch() async {
        while !places.allSatisfy(\.isCertain), (try? await Task.sleep(for: .seconds(2))) != nil { look() }
        look()
    }
}
