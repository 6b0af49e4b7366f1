internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Closes a connection whose client is too slow, or that outlives the server.
///
/// It also reports the connection's state to ``Connections``. Whatever a client sends or reads in the meantime, it has
/// one time for the head of a request, and another for the rest of it and its answer. An event stream has no end, so
/// there each event has its own deadline. ``OneRequestAtATime`` stands before it.
final class ExchangeDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Longest time until a request's head is there, and then until the answer has been sent.
    static let exchange = TimeAmount.seconds(10)
    /// Longest time for open requests after the server stops.
    static let closeGrace = TimeAmount.milliseconds(250)
    /// Unsent bytes of a stream; the next event is produced only when these are sent.
    static let waiting = ChannelOptions.Types.WriteBufferWaterMark(low: 1, high: 4096)
    /// Unsent bytes of a stream in the kernel, which counts them double.
    static let kept: ChannelOptions.Types.SocketOption.Value = 16384

    private let connections: Connections
    private var isReading = false
    private var isAnswered = true
    private var isStopping = false
    private var isStreaming = false
    /// Events being sent.
    private var unsent = 0
    private var closing: Scheduled<Void>?

    init(_ connections: Connections) { self.connections = connections }

    func handlerAdded(context: ChannelHandlerContext) {
        connections.opened(context.channel)
        close(context, in: Self.exchange)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            (isReading, isAnswered) = (true, false)
            close(context, in: Self.exchange)
        case .body:
            break
        case .end:
            isReading = false
            connections.note(context.channel, isBeingAnswered: !isAnswered)
            if isAnswered { close(context, in: Self.exchange) }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head):
            if head.headerFields[.contentType] == eventStreamType { beginStream(context) }
            context.write(data, promise: promise)
        case .body where isStreaming:
            unsent += 1
            close(context, in: Self.exchange)
            whenWritten(context, data, promise) { self.sent(context) }
        case .body:
            context.write(data, promise: promise)
        case .end:
            whenWritten(context, data, promise) { self.answered(context) }
        }
    }

    private func whenWritten(
        _ context: ChannelHandlerContext, _ data: NIOAny, _ promise: EventLoopPromise<Void>?,
        _ body: @escaping () -> Void
    ) {
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.assumeIsolated().whenSuccess(body)
        context.write(data, promise: written)
    }

    private func beginStream(_ context: ChannelHandlerContext) {
        isStreaming = true
        let options = context.channel.syncOptions
        try? options?.setOption(.writeBufferWaterMark, value: Self.waiting)
        try? options?.setOption(.socketOption(.so_sndbuf), value: Self.kept)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            close(context, in: Self.closeGrace)
            isStopping = true
        }
        context.fireUserInboundEventTriggered(event)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        closing?.cancel()
        connections.closed(context.channel)
    }

    private func sent(_ context: ChannelHandlerContext) {
        unsent -= 1
        if unsent > 0 { close(context, in: Self.exchange) } else if !isStopping { closing?.cancel() }
    }

    private func answered(_ context: ChannelHandlerContext) {
        (isAnswered, isStreaming) = (true, false)
        connections.note(context.channel, isBeingAnswered: false)
        close(context, in: Self.exchange)
    }

    private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
        guard !isStopping else { return }
        closing?.cancel()
        closing = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
    }
}
