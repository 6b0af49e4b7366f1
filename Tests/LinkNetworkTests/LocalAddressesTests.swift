import LinkSession
import Testing

@testable import LinkNetwork

/// Which of too many addresses are used.
@Suite
struct LocalAddressesTests {
    private let loopback = LocalAddress(address: .v4(127, 0, 0, 1), name: "lo", index: 1)
    /// The real network, whose address comes last.
    private let wired = LocalAddress(address: .v4(192, 168, 7, 2), name: "eth0", index: 2)

    private func bridge(_ number: Int) -> LocalAddress {
        LocalAddress(address: .v4(172, 16, UInt8(number), 1), name: "br-\(number)", index: UInt32(100 + number))
    }

    private func addresses(_ all: [LocalAddress]) -> LocalAddresses {
        LocalAddresses(all) { !$0.hasPrefix("br-") }
    }

    @Test
    func `all addresses are used while they are not too many`() {
        let few = addresses((0..<30).map(bridge) + [loopback, wired])
        #expect(few.used.count == 32 && few.leftOut.isEmpty)
    }

    @Test
    func `of too many bridges the last are left out, and not the network that leads out`() {
        let many = addresses((0..<40).map(bridge) + [wired, loopback])
        #expect(many.used == [loopback, wired] + (0..<30).map(bridge))
        #expect(many.leftOut == (30..<40).map(bridge))
    }

    @Test
    func `the many addresses of one network leave out no other network, nor loopback`() {
        let further = (1...40).map { LocalAddress(address: .v4(192, 168, 0, UInt8($0)), name: "eth1", index: 3) }
        let more = (2...40).map { LocalAddress(address: .v4(127, 0, 0, UInt8($0)), name: "lo", index: 1) }
        let many = addresses(more + further + [loopback, wired])
        #expect(many.used == [loopback, further[0], wired] + further[1..<30])
    }
}
