import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import ControlServer

@Suite
struct OneRequestAtATimeTests {
    private let reads = ReadCount()
    private let events = EventLog()
    private let channel: EmbeddedChannel

    init() throws {
        channel = EmbeddedChannel(handlers: [reads, OneRequestAtATime(), events])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 8808)).wait()
    }

    @Test
    func `the next request is passed on when the answer has been sent, in order`() throws {
        for path in ["/a", "/b", "/c"] { try request(path) }
        #expect(try passed() == ["/a", "end"])
        // Written but not flushed: the client reads nothing.
        channel.write(HTTPResponsePart.end(nil), promise: nil)
        #expect(try passed() == [])
        channel.flush()
        #expect(try passed() == ["/b", "end"])
        try answer()
        #expect(try passed() == ["/c", "end"])
        try answer()
        #expect(try passed() == [])
    }

    @Test
    func `nothing is read while an answer is due`() throws {
        channel.read()
        try channel.writeInbound(HTTPRequestPart.head(head("/a")))
        channel.read()
        #expect(reads.count == 2, "its body is still to be read")
        try channel.writeInbound(HTTPRequestPart.end(nil))
        channel.read()
        channel.read()
        #expect(reads.count == 2)
        try answer()
        #expect(reads.count == 3)
    }

    @Test
    func `the rest of a body is read after an early answer, and then the next request`() throws {
        try channel.writeInbound(HTTPRequestPart.head(head("/a")))
        try answer()
        channel.read()
        #expect(reads.count == 1)
        try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "x")))
        try channel.writeInbound(HTTPRequestPart.end(nil))
        try request("/b")
        #expect(try passed() == ["/a", "x", "end", "/b", "end"])
    }

    @Test
    func `half a request that waits is completed later`() throws {
        try request("/a")
        try channel.writeInbound(HTTPRequestPart.head(head("/b")))
        channel.read()
        try answer()
        #expect(reads.count == 1)
        try channel.writeInbound(HTTPRequestPart.end(nil))
        #expect(try passed() == ["/a", "end", "/b", "end"])
    }

    @Test
    func `an error and the end of the input wait for the requests before them`() throws {
        try request("/a")
        try request("/b")
        channel.pipeline.fireErrorCaught(ChannelError.inputClosed)
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        try answer()
        #expect(events.all.isEmpty)
        try answer()
        #expect(events.all == ["error", "inputClosed"])
    }

    @Test(arguments: [1, 1_000])
    func `a connection that has more than 64 KiB waiting is closed`(size: Int) throws {
        try request("/a")
        let most = OneRequestAtATime.mostWaiting / (size + 64)
        for _ in 0..<most {
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 0x78, count: size)))
        }
        #expect(channel.isActive)
        try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 0x78, count: size)))
        #expect(channel.isActive == false)
    }

    @Test
    func `as many requests as one read holds may wait`() throws {
        try request("/")
        for _ in 0..<GuardedChannel.mostRead / "GET / HTTP/1.1\r\n\r\n".utf8.count { try request("/") }
        #expect(channel.isActive)
    }

    @Test
    func `when the server stops, requests that wait are dropped`() throws {
        try request("/a")
        try request("/b")
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        try request("/c")
        try answer()
        #expect(try passed() == ["/a", "end"])
    }

    private func head(_ path: String) -> HTTPRequest {
        HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: path)
    }

    private func request(_ path: String) throws {
        try channel.writeInbound(HTTPRequestPart.head(head(path)))
        try channel.writeInbound(HTTPRequestPart.end(nil))
    }

    private func answer() throws {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    /// What has been passed on since the last call: paths, bodies and ends.
    private func passed() throws -> [String] {
        var all: [String] = []
        while let part = try channel.readInbound(as: HTTPRequestPart.self) {
            switch part {
            case .head(let head): all.append(head.path ?? "")
            case .body(let bytes): all.append(String(buffer: bytes))
            case .end: all.append("end")
            }
        }
        return all
    }

    /// Counts reads of the connection.
    private final class ReadCount: ChannelOutboundHandler {
        typealias OutboundIn = HTTPResponsePart

        private(set) var count = 0

        func read(context: ChannelHandlerContext) { count += 1 }
    }

    /// Errors and events that are passed on.
    private final class EventLog: ChannelInboundHandler {
        typealias InboundIn = HTTPRequestPart

        private(set) var all: [String] = []

        func errorCaught(context: ChannelHandlerContext, error: any Error) { all.append("error") }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { all.append("\(event)") }
    }
}
