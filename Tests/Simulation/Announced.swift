package import BeatTime
package import LinkSession

extension Engine {
    /// What other peers would hear of this one's session now; nil while it takes no part on the network.
    package func announcement(at now: HostTime) -> Announcement? {
        // A copy is given one more interface, on which it announces itself at once.
        var copy = self
        let address = IPAddress.v4(192, 0, 2, 1)
        let endpoint = Endpoint(address: address, port: 1)
        let sent = copy.interfaceAppeared(address, measurementEndpoint: endpoint, at: now)
        return sent.first { $0.interface == address }.flatMap { try? DiscoveryDecoder($0.bytes).announcement() }
    }
}
