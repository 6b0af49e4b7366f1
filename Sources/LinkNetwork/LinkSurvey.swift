package import BeatTime
internal import Glibc
package import LinkSession
package import RealTime

/// Listens for Link peers on this host's networks for a short time, without joining them.
///
/// It sends one datagram per network to Link's group and port, a probe. The probe never leaves this host, and Link peers
/// ignore it. If it comes back, this host's firewall lets traffic to the group through. Peers of other hosts get pings, as
/// from anybody who measures their clock: whoever is heard and does not answer is in a network that carries only multicast.
package struct LinkSurvey: Sendable {
    /// One local address.
    package struct Network: Hashable, Sendable {
        /// The interface's name.
        package var name: String
        package var address: IPAddress
        /// Whether the probe came back; nil if the sockets could not be opened or used.
        package var hearsItself: Bool?
        /// Why the sockets could not be opened or used.
        package var trouble: SystemCallError?
    }

    /// A Link peer that was heard.
    package struct Peer: Hashable, Sendable {
        package var node: NodeID
        package var session: NodeID
        package var tempo: Tempo
        /// Where its datagrams came from.
        package var source: IPAddress
        /// The interfaces on which it was heard.
        package var interfaces: Set<String>
        /// Whether it has answered a ping; nil if it got none, because it is on this host or does not say where to ask.
        package var answers: Bool?
        /// Where to ask.
        fileprivate var endpoint: Endpoint?
    }

    package private(set) var networks: [Network]
    /// Sorted by node ID.
    package private(set) var peers: [Peer] = []

    /// Limit for `peers`, far above any real session, because one sender can pretend to be any number of peers.
    private static let mostPeers = 256

    /// The address from which most peers announce themselves; nil unless `peers` has reached its limit.
    package var crowd: IPAddress? {
        guard peers.count >= Self.mostPeers else { return nil }
        return Dictionary(grouping: peers, by: \.source).max { $0.value.count < $1.value.count }?.key
    }

    /// Sends the probes and listens on all networks at once; returns after the given time.
    ///
    /// - Parameter milliseconds: how long to listen; a peer announces itself four times a second.
    package init(milliseconds: Int64) {
        // Peers that use IPv6 use IPv4 as well.
        let addresses = LocalAddresses.scan(onlyNamed: [])?.used.filter { !$0.isIPv6 } ?? []
        var sockets: [(index: Int, socket: SurveySocket)] = []
        networks = addresses.map {
            Network(name: $0.name, address: $0.address, hearsItself: nil, trouble: nil)
        }
        for (index, address) in addresses.enumerated() {
            do throws(SystemCallError) {
                let socket = try SurveySocket(on: address)
                try socket.sendProbe()
                sockets.append((index, socket))
                networks[index].hearsItself = false
            } catch {
                networks[index].trouble = error
            }
        }
        let end = MonotonicTime.now().advanced(byNanoseconds: milliseconds * 1_000_000)
        while true {
            let left = (end.nanoseconds - MonotonicTime.now().nanoseconds) / 1_000_000
            guard left > 0 else { break }
            var pollers = sockets.flatMap { [$0.socket.group.descriptor, $0.socket.sender.descriptor] }
                .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&pollers, nfds_t(pollers.count), Int32(left)) > 0 else { continue }
            for (number, entry) in sockets.enumerated() {
                if pollers[2 * number].revents != 0 { take(entry.socket, entry.index) }
                if pollers[2 * number + 1].revents != 0 { takePongs(entry.socket) }
            }
        }
        peers.sort { $0.node < $1.node }
    }

    /// Reads what waits in a socket, at most 64 datagrams, so that a flood cannot delay the end.
    private mutating func take(_ socket: SurveySocket, _ index: Int) {
        for _ in 0..<64 {
            guard case .datagram(let bytes, let source) = socket.group.receive() else { return }
            if bytes == socket.probe {
                networks[index].hearsItself = true
            } else {
                heard(bytes, from: source.address, on: networks[index].name)
                ping(source.address, through: socket)
            }
        }
    }

    /// Asks the peers at an address that have not answered yet, each time that one of them is heard.
    private mutating func ping(_ source: IPAddress, through socket: SurveySocket) {
        guard !networks.contains(where: { $0.address == source }) else { return }
        for index in peers.indices where peers[index].source == source && peers[index].answers != true {
            // Nowhere else: anybody could name another machine.
            guard let endpoint = peers[index].endpoint, endpoint.address == source else { continue }
            peers[index].answers = false
            _ = socket.sender.send(MeasurementMessage.ping(hostTime: .now()), to: endpoint)
        }
    }

    /// Notes who has answered.
    private mutating func takePongs(_ socket: SurveySocket) {
        for _ in 0..<64 {
            guard case .datagram(let bytes, let source) = socket.sender.receive() else { return }
            guard case .pong? = try? MeasurementMessage(bytes) else { continue }
            for index in peers.indices where peers[index].endpoint == source { peers[index].answers = true }
        }
    }

    private mutating func heard(_ bytes: [UInt8], from source: IPAddress, on interface: String) {
        guard let decoder = try? DiscoveryDecoder(bytes), decoder.header.kind != .byeBye,
            let announcement = try? decoder.announcement()
        else { return }
        let node = decoder.header.sender
        if let index = peers.firstIndex(where: { $0.node == node }) {
            peers[index].session = announcement.session
            peers[index].tempo = announcement.timeline.tempo
            peers[index].interfaces.insert(interface)
            if source == peers[index].source { peers[index].endpoint = announcement.measurementEndpoint }
        } else if peers.count < Self.mostPeers {
            peers.append(
                Peer(
                    node: node, session: announcement.session, tempo: announcement.timeline.tempo, source: source,
                    interfaces: [interface], answers: nil, endpoint: announcement.measurementEndpoint))
        }
    }
}

/// The sockets for one address; a class because it owns descriptors and is kept in an array.
private final class SurveySocket {
    let group: UDPSocket
    let sender: UDPSocket
    private let groupEndpoint: Endpoint
    /// The bytes sent.
    ///
    /// They contain the sender's port, so that they differ from another survey's.
    let probe: [UInt8]

    init(on address: LocalAddress) throws(SystemCallError) {
        group = try UDPSocket.receivingGroup(on: address)
        sender = try UDPSocket.sendingWithinHost(on: address)
        groupEndpoint = UDPSocket.group(for: address.address)
        probe = Array("tactus doctor \(address.index) \(try sender.port())".utf8)
    }

    func sendProbe() throws(SystemCallError) {
        let code = sender.send(probe, to: groupEndpoint)
        if code != 0 { throw SystemCallError(operation: "sendto \(groupEndpoint)", code: code) }
    }
}
