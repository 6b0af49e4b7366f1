package import BeatTime
package import LinkSession

extension Engine {
    /// What other peers would now hear of this one's session; nil while it is off the network.
    package func announcement(at now: HostTime) -> Announcement? {
        // A copy gets another interface, on which it announces itself at once.
        var copy = self
        let address = IPAddress.v4(192, 0, 2, 1)
        let endpoint = Endpoint(address: address, port: 1)
        let sent = copy.interfaceAppeared(address, measurementEndpoint: endpoint, at: now)
        return sent.first { $0.interface == address }.flatMap { try? DiscoveryDecoder($0.bytes).announcement() }
    }
}
