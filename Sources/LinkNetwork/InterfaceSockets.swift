internal import BeatTime
internal import Glibc
internal import LinkSession
internal import RealTime

/// The three sockets through which one local address takes part.
///
/// A class because it owns descriptors and is kept in a list; it belongs to the network thread alone.
final class InterfaceSockets {
    /// Receives what is sent to the group.
    let group: UDPSocket
    /// Sends announcements and responses, and receives responses.
    let unicast: UDPSocket
    /// Sends and receives pings and pongs.
    let measurement: UDPSocket
    /// Where pings are expected.
    let measurementEndpoint: Endpoint

    init(on address: LocalAddress) throws(SystemCallError) {
        group = try UDPSocket.receivingGroup(on: address)
        unicast = try UDPSocket.sending(from: address)
        measurement = try UDPSocket.sending(from: address)
        measurementEndpoint = Endpoint(address: address.address, port: try measurement.port())
    }
}

/// One local address in use: its sockets, and what has gone wrong with them.
struct NetworkInterface {
    let address: LocalAddress
    /// Nil while they have failed and are to be made anew.
    var sockets: InterfaceSockets?
    /// Failures to send since the last success.
    private var failures = 0
    /// When to make the sockets anew; nil while they work.
    private(set) var rebuildAt: HostTime?
    private var backOff = Self.shortestBackOff

    private static let shortestBackOff: Int64 = 1_000_000
    private static let longestBackOff: Int64 = 30_000_000
    /// A second's announcements.
    private static let tolerance = 4

    init(address: LocalAddress, sockets: InterfaceSockets) {
        self.address = address
        self.sockets = sockets
    }

    var id: IPAddress { address.address }

    /// Sends a datagram; errors that will not pass by themselves have the sockets made anew after a while.
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
        // What a peer's address may cause says nothing of our sockets.
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

    /// Puts the next attempt off, each time twice as far.
    private mutating func scheduleRebuild(at now: HostTime) {
        rebuildAt = now.advanced(byMicroseconds: backOff)
        backOff = min(2 * backOff, Self.longestBackOff)
    }

    /// Closes the sockets and makes them anew.
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
