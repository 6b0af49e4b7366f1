package import BeatTime
internal import Glibc
package import LinkSession
package import RealTime

/// What can be heard of Link on this host's networks in a short while, without taking part.
///
/// Nothing is sent but one datagram a network, to Link's group and port. No peer takes it for a message of Link's, and
/// it never leaves this host; it shows whether what the group is sent gets past this host's own filters.
package struct LinkSurvey: Sendable {
    /// One local address.
    package struct Network: Hashable, Sendable {
        /// The interface's name.
        package var name: String
        package var address: IPAddress
        /// Whether the datagram sent to the group came back; nil if the sockets could not be made.
        package var hearsItself: Bool?
        /// Why sockets could not be made or used.
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
    }

    package private(set) var networks: [Network]
    /// In order of their node IDs.
    package private(set) var peers: [Peer] = []

    /// More peers than any stage has; a bound, because anybody can pretend to be many.
    private static let mostPeers = 256

    /// The address that most of the peers announce themselves from, if there are more than any stage has.
    package var crowd: IPAddress? {
        guard peers.count >= Self.mostPeers else { return nil }
        return Dictionary(grouping: peers, by: \.source).max { $0.value.count < $1.value.count }?.key
    }

    /// Listens, and hears itself, on all networks at once.
    ///
    /// - Parameter milliseconds: how long; a peer speaks four times a second.
    package init(milliseconds: Int64) {
        // Whoever speaks Link by IPv6 does so by IPv4 as well.
        let addresses = LocalAddress.scan(onlyNamed: [])?.filter { !$0.isIPv6 } ?? []
        var ears: [(index: Int, socket: SurveySocket)] = []
        networks = addresses.map {
            Network(name: $0.name, address: $0.address, hearsItself: nil, trouble: nil)
        }
        for (index, address) in addresses.enumerated() {
            do throws(SystemCallError) {
                let socket = try SurveySocket(on: address)
                try socket.call()
                ears.append((index, socket))
                networks[index].hearsItself = false
            } catch {
                networks[index].trouble = error
            }
        }
        let end = MonotonicTime.now().advanced(byNanoseconds: milliseconds * 1_000_000)
        while true {
            let left = (end.nanoseconds - MonotonicTime.now().nanoseconds) / 1_000_000
            guard left > 0 else { break }
            var pollers = ears.map { pollfd(fd: $0.socket.group.descriptor, events: Int16(POLLIN), revents: 0) }
            guard poll(&pollers, nfds_t(pollers.count), Int32(left)) > 0 else { continue }
            for (ear, poller) in zip(ears, pollers) where poller.revents != 0 { take(ear.socket, ear.index) }
        }
        peers.sort { $0.node < $1.node }
    }

    /// Takes what waits in a socket, but no more than a flood's share, so that the end is seen.
    private mutating func take(_ socket: SurveySocket, _ index: Int) {
        for _ in 0..<64 {
            guard case .datagram(let bytes, let source) = socket.group.receive() else { return }
            if bytes == socket.words {
                networks[index].hearsItself = true
            } else {
                heard(bytes, from: source.address, on: networks[index].name)
            }
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
        } else if peers.count < Self.mostPeers {
            peers.append(
                Peer(
                    node: node, session: announcement.session, tempo: announcement.timeline.tempo, source: source,
                    interfaces: [interface]))
        }
    }
}

/// The sockets of one address; a class because it owns descriptors and is kept in a list.
private final class SurveySocket {
    let group: UDPSocket
    private let voice: UDPSocket
    private let meeting: Endpoint
    /// What is sent: told apart from another survey's by the port it is sent from.
    let words: [UInt8]

    init(on address: LocalAddress) throws(SystemCallError) {
        group = try UDPSocket.receivingGroup(on: address)
        voice = try UDPSocket.sendingWithinHost(on: address)
        meeting = UDPSocket.group(for: address.address)
        words = Array("tactus doctor \(address.index) \(try voice.port())".utf8)
    }

    func call() throws(SystemCallError) {
        let code = voice.send(words, to: meeting)
        if code != 0 { throw SystemCallError(operation: "sendto \(meeting)", code: code) }
    }
}
