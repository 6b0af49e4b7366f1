import NIOCore
import NIOEmbedded
import Testing

@testable import ControlServer

@Suite
struct ConnectionsTests {
    private let connections = Connections(most: 3)

    private func open(
        from address: String = "127.0.0.1", in connections: Connections? = nil, isBeingAnswered: Bool = false
    ) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        let remote = try SocketAddress(ipAddress: address, port: 8808)
        try channel.connect(to: remote).wait()
        channel.remoteAddress = remote
        let connections = connections ?? self.connections
        connections.opened(channel)
        connections.note(channel, isBeingAnswered: isBeingAnswered)
        return channel
    }

    /// Lets the channels process events, and returns which are still open.
    private func areOpen(_ channels: EmbeddedChannel...) -> [Bool] { areOpen(channels) }

    private func areOpen(_ channels: [EmbeddedChannel]) -> [Bool] {
        channels.map { channel in
            channel.embeddedEventLoop.run()
            return channel.isActive
        }
    }

    @Test
    func `one connection too many closes the oldest without a request`() throws {
        let (first, second, third) = (try open(), try open(), try open())
        connections.note(first, isBeingAnswered: true)
        let fourth = try open()
        #expect(areOpen(first, second, third, fourth) == [true, false, true, true])
        let fifth = try open()
        #expect(areOpen(first, third, fourth, fifth) == [true, false, true, true])
        connections.note(first, isBeingAnswered: false)
        let sixth = try open()
        #expect(areOpen(first, fourth, fifth, sixth) == [false, true, true, true])
    }

    @Test
    func `while all are being answered the newcomer is closed`() throws {
        let channels = (try open(), try open(), try open())
        connections.note(channels.0, isBeingAnswered: true)
        connections.note(channels.1, isBeingAnswered: true)
        connections.note(channels.2, isBeingAnswered: true)
        let fourth = try open()
        #expect(areOpen(channels.0, channels.1, channels.2, fourth) == [true, true, true, false])
    }

    /// Six connections, most of which a stranger keeps busy from one prefix; at most three of them are the stranger's share.
    private func crowded() throws -> (connections: Connections, stranger: [EmbeddedChannel], panel: [EmbeddedChannel]) {
        let connections = Connections(most: 6, share: 3)
        let stranger = try (1...4).map {
            try open(from: "2001:db8:7::\($0)", in: connections, isBeingAnswered: true)
        }
        let panel = try (1...2).map { _ in try open(in: connections, isBeingAnswered: true) }
        return (connections, stranger, panel)
    }

    @Test
    func `who keeps more than a share busy loses one of them to others`() throws {
        let (connections, stranger, panel) = try crowded()
        let next = try open(in: connections)
        #expect(areOpen(stranger + panel + [next]) == [false, true, true, true, true, true, true])
        // The stranger now has no more than its share; the newest closes, as nobody else waits.
        connections.note(next, isBeingAnswered: true)
        let last = try open(from: "192.168.7.3", in: connections)
        #expect(areOpen([next, last]) == [true, false])
    }

    @Test
    func `who keeps more than a share busy gets no more`() throws {
        let (connections, stranger, panel) = try crowded()
        let more = try open(from: "2001:db8:7::9", in: connections)
        #expect(areOpen(stranger + panel + [more]) == [true, true, true, true, true, true, false])
    }

    @Test
    func `a connection that has ended makes room`() throws {
        let (first, second, third) = (try open(), try open(), try open())
        connections.closed(second)
        let fourth = try open()
        #expect(areOpen(first, third, fourth) == [true, true, true])
    }

    @Test
    func `places for streams are limited, and freed again`() throws {
        let places = StreamPlaces()
        var taken = try (0..<StreamPlaces.most).map { _ in try places.take() }
        #expect(throws: RequestError.self) { try places.take() }
        taken.removeLast()
        taken.append(try places.take())
        #expect(throws: RequestError.self) { try places.take() }
    }
}
