import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import ControlServer

/// In virtual time: the channel's clock moves only when advanced.
@Suite
struct ExchangeDeadlineTests {
    private let channel: EmbeddedChannel

    init() throws {
        channel = EmbeddedChannel(handler: ExchangeDeadline(Connections()))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 8808)).wait()
    }

    @Test
    func `a slow body is cut off ten seconds after its request began`() throws {
        try send(.head)
        for _ in 0..<9 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: " ")))
            #expect(channel.isActive)
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(channel.isActive == false)
    }

    @Test
    func `a slow body after an early answer is cut off too`() throws {
        try send(.head)
        try answer()
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(channel.isActive == false)
    }

    @Test
    func `a request without an answer is cut off`() throws {
        try send(.head, .end)
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(channel.isActive == false)
    }

    @Test
    func `a finished exchange leaves the connection open, and the next has its own ten seconds`() throws {
        for _ in 0..<3 {
            try send(.head, .end)
            channel.embeddedEventLoop.advanceTime(by: .seconds(9))
            try answer()
            channel.embeddedEventLoop.advanceTime(by: .seconds(9))
            #expect(channel.isActive)
        }
    }

    @Test(arguments: [false, true])
    func `a connection without a whole head is cut off after ten seconds`(isUsed: Bool) throws {
        if isUsed {
            channel.embeddedEventLoop.advanceTime(by: .seconds(9))
            try send(.head, .end)
            try answer()
        }
        channel.embeddedEventLoop.advanceTime(by: .nanoseconds(9_999_999_999))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .nanoseconds(1))
        #expect(channel.isActive == false)
    }

    @Test
    func `when the server stops, an open request has 250 ms left`() throws {
        try send(.head)
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(249))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(channel.isActive == false)
    }

    @Test
    func `a stream may last, but each of its events must be sent within ten seconds`() throws {
        try send(.head, .end)
        try channel.writeOutbound(
            HTTPResponsePart.head(HTTPResponse(status: .ok, headerFields: [.contentType: "text/event-stream"])))
        for _ in 0..<3 {
            try channel.writeOutbound(HTTPResponsePart.body(ByteBuffer(string: "event")))
            channel.embeddedEventLoop.advanceTime(by: .seconds(60))
            #expect(channel.isActive)
        }
        // Without a flush the client reads nothing.
        channel.write(HTTPResponsePart.body(ByteBuffer(string: "event")), promise: nil)
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(channel.isActive == false)
    }

    private enum Part { case head, end }

    private func send(_ parts: Part...) throws {
        for part in parts {
            switch part {
            case .head:
                let head = HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/")
                try channel.writeInbound(HTTPRequestPart.head(head))
            case .end: try channel.writeInbound(HTTPRequestPart.end(nil))
            }
        }
    }

    private func answer() throws {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }
}
