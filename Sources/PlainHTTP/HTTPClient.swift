package import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1
internal import NIOPosix

/// A client for plain HTTP/1.1, with a new connection for each request.
///
/// Talking to a gateway needs no TLS, redirects, proxies or compression. SwiftNIO, which the server uses too, does the
/// rest.
package struct HTTPClient: Hashable, Sendable {
    /// Where the server is.
    package enum Place: Hashable, Sendable {
        /// A name or an address, without brackets, and a port.
        case network(host: String, port: Int)
        /// The path of a Unix socket.
        case socket(String)
    }

    package let place: Place
    /// Longest wait for a whole answer, or for the next part of a stream, in seconds.
    package let timeout: Int64

    /// The longest answer, in bytes.
    package static let longest = 1 << 20

    package init(at place: Place, timeout: Int64 = 10) {
        self.place = place
        self.timeout = timeout
    }

    package init(host: String, port: Int, timeout: Int64 = 10) {
        self.init(at: .network(host: host, port: port), timeout: timeout)
    }

    package struct Answer: Hashable, Sendable {
        package var status: Int
        package var headers: HTTPFields
        package var body: String

        package init(status: Int, headers: HTTPFields = [:], body: String) {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    /// Sends a request and waits for its whole answer.
    ///
    /// - Throws: an ``HTTPFailure`` when there is no answer, or one that is too long or takes too long.
    package func answer(to request: HTTPRequest, body: String? = nil) async throws -> Answer {
        try await exchange(request, body, timing: .whole) { parts in
            var (status, headers, bytes) = (0, HTTPFields(), ByteBuffer())
            for try await part in parts {
                switch part {
                case .head(let head): (status, headers) = (head.status.code, head.headerFields)
                case .body(var more):
                    guard bytes.readableBytes + more.readableBytes <= Self.longest else { throw HTTPFailure.tooLong }
                    bytes.writeBuffer(&more)
                case .end: return Answer(status: status, headers: headers, body: String(buffer: bytes))
                }
            }
            throw HTTPFailure.cutShort
        }
    }

    /// Sends a request with an ongoing answer, and passes on its parts as they arrive.
    ///
    /// - Parameters:
    ///   - request: without a body.
    ///   - receive: takes the status and the next bytes of the answer; returns whether to continue.
    /// - Returns: the status of the answer.
    /// - Throws: an ``HTTPFailure`` when there is no answer or it pauses for too long, and whatever `receive` throws.
    @discardableResult
    package func stream(
        _ request: HTTPRequest, to receive: (_ status: Int, _ bytes: [UInt8]) async throws -> Bool
    ) async throws -> Int {
        try await exchange(request, nil, timing: .parts) { parts in
            var status = 0
            for try await part in parts {
                switch part {
                case .head(let head): status = head.status.code
                case .body(let bytes):
                    guard try await receive(status, Array(bytes.readableBytesView)) else { return status }
                case .end: return status
                }
            }
            throw HTTPFailure.cutShort
        }
    }

    private func exchange<Outcome: Sendable>(
        _ request: HTTPRequest, _ body: String?, timing: AnswerDeadline.Timing,
        _ read: (NIOAsyncChannelInboundStream<HTTPResponsePart>) async throws -> Outcome
    ) async throws -> Outcome {
        do {
            let start = NIODeadline.now()
            return try await connection(from: start, timing).executeThenClose { inbound, outbound in
                var request = request
                request.scheme = "http"
                if request.authority == nil { request.authority = authority }
                request.headerFields[.connection] = "close"
                if let body { request.headerFields[.contentLength] = "\(body.utf8.count)" }
                // All at once: a server that has read enough may answer and close before the end is written.
                let parts: [HTTPRequestPart?] = [.head(request), body.map { .body(ByteBuffer(string: $0)) }, .end(nil)]
                try await outbound.write(contentsOf: parts.compactMap(\.self))
                return try await read(inbound)
            }
        } catch {
            throw HTTPFailure(error, after: timeout) ?? error
        }
    }

    private func connection(
        from start: NIODeadline, _ timing: AnswerDeadline.Timing
    ) async throws -> NIOAsyncChannel<HTTPResponsePart, HTTPRequestPart> {
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(timeout))
        let timeout = timeout
        let setUp = { @Sendable (channel: any Channel) in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHTTPClientHandlers()
                try pipeline.addHandler(HTTP1ToHTTPClientCodec())
                try pipeline.addHandler(AnswerDeadline(in: timeout, from: start, timing))
                return try NIOAsyncChannel<HTTPResponsePart, HTTPRequestPart>(wrappingChannelSynchronously: channel)
            }
        }
        return switch place {
        case .network(let host, let port):
            try await bootstrap.connect(host: host, port: port, channelInitializer: setUp)
        case .socket(let path):
            try await bootstrap.connect(unixDomainSocketPath: path, channelInitializer: setUp)
        }
    }

    /// Host and port for the header `Host`.
    private var authority: String {
        guard case .network(let name, let port) = place else { return "localhost" }
        let host = name.contains(":") ? "[\(name)]" : name
        return port == 80 ? host : "\(host):\(port)"
    }
}

/// Stops reading an answer that takes too long.
final class AnswerDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPResponsePart
    typealias InboundOut = HTTPResponsePart

    enum Timing {
        /// The whole answer must arrive in time.
        case whole
        /// The time starts again with each part.
        case parts
    }

    private let first: NIODeadline
    private let timeout: Int64
    private let timing: Timing
    private var failing: Scheduled<Void>?

    /// - Parameters:
    ///   - timeout: in seconds.
    ///   - start: when the time starts.
    ///   - timing: what must arrive in time.
    init(in timeout: Int64, from start: NIODeadline, _ timing: Timing) {
        first = start + .seconds(timeout)
        self.timeout = timeout
        self.timing = timing
    }

    func handlerAdded(context: ChannelHandlerContext) { fail(context, at: first) }

    func handlerRemoved(context: ChannelHandlerContext) { failing?.cancel() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if timing == .parts { fail(context, at: context.eventLoop.now + .seconds(timeout)) }
        context.fireChannelRead(data)
    }

    private func fail(_ context: ChannelHandlerContext, at time: NIODeadline) {
        failing?.cancel()
        failing = context.eventLoop.assumeIsolated().scheduleTask(deadline: time) { [timeout] in
            context.fireErrorCaught(HTTPFailure.late(seconds: timeout))
        }
    }
}
