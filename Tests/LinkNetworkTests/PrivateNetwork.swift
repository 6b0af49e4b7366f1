import Glibc
import LinkNetwork
import LinkSession
import Synchronization
import Testing

/// Guards the real network: a test that opens sockets may run only where there is nothing but loopback.
struct NotInPrivateNamespace: Error, CustomStringConvertible {
    let interfaces: [String]

    var description: String {
        "not in a private network namespace: \(interfaces) are up. Run under "
            + "`unshare -rn sh -c 'ip link set lo up; swift test …'`"
    }
}

/// Returns only in a network namespace where nothing but loopback is up.
func requirePrivateNamespace() throws {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { throw NotInPrivateNamespace(interfaces: ["none known"]) }
    defer { freeifaddrs(first) }
    var names: Set<String> = []
    for entry in sequence(first: first, next: { $0?.pointee.ifa_next }) {
        guard let entry = entry?.pointee, entry.ifa_flags & UInt32(IFF_UP) != 0 else { continue }
        names.insert(String(cString: entry.ifa_name))
    }
    guard names == ["lo"] else { throw NotInPrivateNamespace(interfaces: names.sorted()) }
}

/// Collects the states that a peer reports, so that a test can wait for one.
final class Witness: Sendable {
    private let states: AsyncStream<LinkState>
    private let tell: AsyncStream<LinkState>.Continuation

    init() { (states, tell) = AsyncStream.makeStream() }

    /// The closure to pass to the peer as `onChange`.
    var onChange: @Sendable (LinkState) -> Void { { [tell] in _ = tell.yield($0) } }

    /// Waits until the peer reports a wanted state; the test's own time limit is the timeout.
    @discardableResult
    func see(_ isWanted: (LinkState) -> Bool) async throws -> LinkState {
        for await state in states where isWanted(state) { return state }
        throw CancellationError()
    }
}

/// A socket on loopback for packets made by hand.
struct RawSocket: ~Copyable {
    private let descriptor: Int32

    init() {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var loopback = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
        setsockopt(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &loopback, socklen_t(MemoryLayout<in_addr>.size))
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8], to address: UInt32 = 0x7f00_0001, port: UInt16) {
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = port.bigEndian
        target.sin_addr.s_addr = address.bigEndian
        let sent = withUnsafeBytes(of: &target) { target in
            bytes.withUnsafeBytes { bytes in
                sendto(
                    descriptor, bytes.baseAddress, bytes.count, 0,
                    target.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(target.count))
            }
        }
        #expect(sent == bytes.count)
    }

    /// Sends a datagram until an answer comes, since a peer that has just begun listens first; gives up after 60 s.
    ///
    /// - Returns: the answer, and how often it was sent.
    func ask(_ bytes: [UInt8], to address: UInt32, port: UInt16) -> (answer: [UInt8]?, times: Int) {
        for times in 1...240 {
            send(bytes, to: address, port: port)
            if let answer = receive(withinMilliseconds: 250) { return (answer, times) }
        }
        return (nil, 240)
    }

    /// The next datagram; nil if none comes within a number of milliseconds.
    func receive(withinMilliseconds timeout: Int32) -> [UInt8]? {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, timeout) == 1 else { return nil }
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: 600) { buffer, initialized in
            count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            initialized = max(0, count)
        }
        return count < 0 ? nil : bytes
    }
}
