internal import NIOCore
internal import NIOHTTPTypes

/// Ends a connection whose client lets a request or its answer take too long, or that outlives the server.
///
/// The library's idle timeout counts from the last part of a request; a client that sends a byte now and then, or that
/// never reads its answers, would pass it.
final class ExchangeDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How long a request and its answer may take together.
    static let exchange = TimeAmount.seconds(10)
    /// How long open requests may still take once the server stops.
    static let farewell = TimeAmount.milliseconds(250)

    private var isReading = false
    private var unanswered = 0
    private var isStopping = false
    private var closing: Scheduled<Void>?

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
            if unanswered == 0 { rest() }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.assumeIsolated().whenSuccess { self.answered(context) }
        context.write(data, promise: written)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            close(context, in: Self.farewell)
            isStopping = true
        }
        context.fireUserInboundEventTriggered(event)
    }

    func handlerRemoved(context: ChannelHandlerContext) { closing?.cancel() }

    private func answered(_ context: ChannelHandlerContext) {
        unanswered -= 1
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
