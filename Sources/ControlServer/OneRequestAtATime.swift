internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Passes on one request at a time; the next one waits until the answer has been sent.
///
/// While an answer is due, nothing more is read, so a client that pipelines requests fills its own buffers and not this
/// program's. What was read along with a request waits here. If that is too much, the connection is closed: when a client
/// closes its side, the event loop reads everything at once.
final class OneRequestAtATime: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Most bytes that wait, in memory.
    static let mostWaiting = 64 * 1024

    /// What has arrived too early.
    fileprivate enum Arrival {
        case part(HTTPRequestPart)
        case error(any Error)
        case inputClosed
    }

    private var waiting = CircularBuffer<Arrival>()
    private var waitingBytes = 0
    /// Whether the last request that was passed on has arrived completely.
    private var isRead = true
    private var isAnswered = true
    private var isReadWanted = false
    private var isStopping = false

    /// Whether a complete request is being answered.
    private var isBusy: Bool { isRead && !isAnswered }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        handle(.part(unwrapInboundIn(data)), context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { handle(.error(error), context) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed { return handle(.inputClosed, context) }
        if event is ChannelShouldQuiesceEvent {
            isStopping = true
            waiting.removeAll()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func read(context: ChannelHandlerContext) {
        if isBusy { isReadWanted = true } else { context.read() }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        let sent = promise ?? context.eventLoop.makePromise()
        sent.futureResult.assumeIsolated().whenSuccess { self.answered(context) }
        context.write(data, promise: sent)
    }

    private func handle(_ arrival: Arrival, _ context: ChannelHandlerContext) {
        guard isBusy else { return pass(arrival, context) }
        guard !isStopping, waitingBytes <= Self.mostWaiting else { return }
        waiting.append(arrival)
        waitingBytes += arrival.size
        if waitingBytes > Self.mostWaiting {
            waiting.removeAll()
            context.close(promise: nil)
        }
    }

    private func pass(_ arrival: Arrival, _ context: ChannelHandlerContext) {
        switch arrival {
        case .part(let part):
            switch part {
            case .head: (isRead, isAnswered) = (false, false)
            case .body: break
            case .end: isRead = true
            }
            context.fireChannelRead(wrapInboundOut(part))
        case .error(let error): context.fireErrorCaught(error)
        case .inputClosed: context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
    }

    private func answered(_ context: ChannelHandlerContext) {
        isAnswered = true
        if !waiting.isEmpty {
            while !isBusy, let arrival = waiting.popFirst() {
                waitingBytes -= arrival.size
                pass(arrival, context)
            }
            context.fireChannelReadComplete()
        }
        guard !isBusy, isReadWanted else { return }
        isReadWanted = false
        context.read()
    }
}

extension OneRequestAtATime.Arrival {
    /// Estimated size in memory, in bytes.
    fileprivate var size: Int {
        switch self {
        case .part(.head(let head)):
            head.headerFields.reduce(256 + (head.path?.utf8.count ?? 0)) { $0 + 64 + $1.value.utf8.count }
        case .part(.body(let bytes)): 64 + bytes.readableBytes
        case .part(.end), .error, .inputClosed: 64
        }
    }
}
