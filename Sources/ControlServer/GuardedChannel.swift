internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTPTypesHTTP1
internal import NIOPosix

/// A connection of the library, limited in what it reads and for how long.
struct GuardedChannel: ServerChildChannel {
    /// Most bytes that are read at once; with the shortest of heads, 57 requests.
    static let mostRead = 1024
    /// Unsent bytes in the kernel, which counts them double; answers that nobody reads then meet their deadline soon.
    static let mostUnsent: ChannelOptions.Types.SocketOption.Value = 32_768

    private let http: HTTP1Channel

    init(_ responder: @escaping HTTPChannelHandler.Responder, _ connections: Connections) {
        http = HTTP1Channel(
            responder: responder,
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [OneRequestAtATime(), ExchangeDeadline(connections)],
                httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                    maxHeaderFieldSize: 8192, maxHeaderListSize: 16384, maxHeaderFieldCount: 100)))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        http.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let options = channel.syncOptions
            try options?.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.mostRead))
            try options?.setOption(.maxMessagesPerRead, value: 1)
            try? options?.setOption(.socketOption(.so_sndbuf), value: Self.mostUnsent)  // it may be closed already
            let pipeline = channel.pipeline.syncOperations
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            try pipeline.addHandler(RequestTarget(), position: .before(codec))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await http.handle(value: value, logger: logger) }
}
