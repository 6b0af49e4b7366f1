import NIOCore
import NIOEmbedded
import Testing

@testable import ControlServer

@Suite
struct ConnectionsTests {
    private let connections = Connections(most: 3)

    private func open() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 8808)).wait()
        connections.opened(channel)
        return channel
    }

    /// Lets the channels process events, and returns which are still open.
    private func areOpen(_ channels: EmbeddedChannel...) -> [Bool] {
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
