internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Ends a connection whose client lets a request or its answer take too long, or that outlives the server, and says
/// among all ``Connections`` how it stands with this one.
///
/// The library's idle timeout counts from the last part of a request; a client that sends a byte now and then, or that
/// never reads its answers, would pass it. An event stream has no end, so there each event has its time.
final class ExchangeDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How long a request and its answer may take together.
    static let exchange = TimeAmount.seconds(10)
    /// How long open requests may still take once the server stops.
    static let closeGrace = TimeAmount.milliseconds(250)
    /// What of a stream may wait to be sent, in bytes: the next event is not asked for before it has left.
    static let waiting = ChannelOptions.Types.WriteBufferWaterMark(low: 1, high: 4096)
    /// What of a stream the kernel may keep unsent, in bytes; twice that, as it counts.
    static let kept: ChannelOptions.Types.SocketOption.Value = 16384

    private let connections: Connections
    private var isReading = false
    private var unanswered = 0
    private var isStopping = false
    private var isStreaming = false
    /// Events on their way.
    private var unsent = 0
    private var closing: Scheduled<Void>?

    init(_ connections: Connections) { self.connections = connections }

    func handlerAdded(context: ChannelHandlerContext) { connections.opened(context.channel) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            isReading = true
            unanswered += 1
            if closing == nil { close(context, in: Self.exchange) }
        case .body:
            break
        case .end:
            isReading = false
            connections.note(context.channel, isBeingAnswered: unanswered > 0)
            if unanswered == 0 { rest() }
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
        if unsent > 0 { close(context, in: Self.exchange) } else { rest() }
    }

    private func answered(_ context: ChannelHandlerContext) {
        unanswered -= 1
        isStreaming = false
        connections.note(context.channel, isBeingAnswered: unanswered > 0 && !isReading)
        rest()
        if isReading || unanswered > 0 { close(context, in: Self.exchange) }
    }

    private func rest() {
        guard !isStopping else { return }
        closing?.cancel()
        closing = nil
    }

    private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
        guard !isStopping else { return }
        closing?.cancel()
        closing = context.eventLoop.assumeIsolated().scheduleTask(in: time) { context.close(promise: nil) }
    }
}
