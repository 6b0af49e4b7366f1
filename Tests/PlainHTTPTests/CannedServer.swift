import NIOCore
import NIOPosix
import Synchronization

/// A server that answers whatever comes with the same bytes and then closes the connection.
struct CannedServer: Sendable {
    private let channel: any Channel
    private let requests: Requests

    /// What clients have sent.
    private final class Requests: Sendable {
        let text = Mutex("")
    }

    var port: Int { channel.localAddress?.port ?? 0 }
    var request: String { requests.text.withLock(\.self) }

    /// Serves `answer` while `body` runs.
    static func serving<Outcome>(
        _ answer: String, _ body: (CannedServer) async throws -> Outcome
    ) async throws -> Outcome {
        let requests = Requests()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(answer, requests))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            let outcome = try await body(CannedServer(channel: channel, requests: requests))
            try await channel.close()
            return outcome
        } catch {
            try await channel.close()
            throw error
        }
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answer: String
        private let requests: Requests

        init(_ answer: String, _ requests: Requests) {
            self.answer = answer
            self.requests = requests
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let text = requests.text.withLock { text in
                text += String(buffer: unwrapInboundIn(data))
                return text
            }
            // Who closes while more is on its way resets the connection.
            guard text.hasSuffix("\r\n\r\n") || text.hasSuffix("}") else { return }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
            context.close(promise: nil)
        }
    }
}
