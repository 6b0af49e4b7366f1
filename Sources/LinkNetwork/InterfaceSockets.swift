internal import BeatTime
internal import Glibc
internal import LinkSession
internal import RealTime

/// The three sockets that Link uses on one local address.
///
/// A class because it owns descriptors and is kept in an array. Network thread only.
final class InterfaceSockets {
    /// Receives datagrams sent to the multicast group.
    let group: UDPSocket
    /// Sends announcements and responses, and receives responses.
    let unicast: UDPSocket
    /// Sends and receives pings and pongs.
    let measurement: UDPSocket
    /// The address and port to which other peers send pings.
    let measurementEndpoint: Endpoint

    init(on address: LocalAddress) throws(SystemCallError) {
        group = try UDPSocket.receivingGroup(on: address)
        unicast = try UDPSocket.sending(from: address)
        measurement = try UDPSocket.sending(from: address)
        measurementEndpoint = Endpoint(address: address.address, port: try measurement.port())
    }
}

/// One local address in use, with its sockets and their failures.
struct NetworkInterface {
    let address: LocalAddress
    /// Nil after reopening them has failed, until the next attempt.
    var sockets: InterfaceSockets?
    /// Failures to send to the group since the last success.
    private var failures = 0
    /// When to reopen the sockets; nil while they work.
    private(set) var rebuildAt: HostTime?
    /// Microseconds until the next attempt to reopen.
    private var backOff = Self.shortestBackOff

    private static let shortestBackOff: Int64 = 1_000_000
    private static let longestBackOff: Int64 = 30_000_000
    /// Failures after which the sockets are reopened: one second of announcements.
    private static let tolerance = 4

    init(address: LocalAddress, sockets: InterfaceSockets) {
        self.address = address
        self.sockets = sockets
    }

    var id: IPAddress { address.address }

    /// Sends a datagram.
    ///
    /// After repeated lasting errors, schedules reopening the sockets.
    mutating func send(_ datagram: Datagram, at now: HostTime) {
        guard let sockets else { return }
        let destination: Endpoint
        switch datagram.destination {
        case .group: destination = UDPSocket.group(for: address.address)
        case .peer(let endpoint): destination = endpoint
        }
        let error =
            switch datagram.channel {
            case .discovery: sockets.unicast.send(datagram.bytes, to: destination)
            case .measurement: sockets.measurement.send(datagram.bytes(leavingAt: .now()), to: destination)
            }
        // An error while sending to a peer may be due to that peer's address, so it does not count.
        guard datagram.destination == .group else { return }
        switch error {
        case ENODEV, ENETUNREACH, ENETDOWN, EADDRNOTAVAIL, EHOSTUNREACH, EBADF, EINVAL: failures += 1
        case 0:
            failures = 0
            backOff = Self.shortestBackOff
        default: break
        }
        if failures >= Self.tolerance, rebuildAt == nil { scheduleRebuild(at: now) }
    }

    /// Schedules the next attempt, each time after twice the delay.
    private mutating func scheduleRebuild(at now: HostTime) {
        rebuildAt = now.advanced(byMicroseconds: backOff)
        backOff = min(2 * backOff, Self.longestBackOff)
    }

    /// Closes the sockets and opens new ones.
    mutating func rebuild(at now: HostTime) throws(SystemCallError) {
        sockets = nil
        failures = 0
        do throws(SystemCallError) {
            sockets = try InterfaceSockets(on: address)
            rebuildAt = nil
        } catch {
            scheduleRebuild(at: now)
            throw error
        }
    }
}
