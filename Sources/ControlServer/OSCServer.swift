package import Gateway
package import Logging
internal import NIOCore
internal import NIOPosix
internal import OpenSoundControl
internal import Synchronization

/// Takes commands over Open Sound Control, on UDP; answers nothing.
package final class OSCServer: Sendable {
    private let channel: any Channel
    private let serving: Serving

    private init(_ channel: any Channel, serving: Serving) {
        self.channel = channel
        self.serving = serving
    }

    /// Listens at an address; what comes before ``serve(_:)`` is passed over.
    ///
    /// - Parameters:
    ///   - address: where; whoever can reach it can steer, since the protocol knows no secrets.
    ///   - log: takes what is not understood or refused.
    /// - Returns: the server, once it listens.
    /// - Throws: when the address cannot be had.
    package static func listening(at address: HTTPAddress, log: Logger) async throws(ListenError) -> OSCServer {
        let serving = Serving()
        do {
            let channel = try await DatagramBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(OSCHandler(serving: serving, log: log))
                    }
                }
                .bind(host: address.host, port: address.port).get()
            return OSCServer(channel, serving: serving)
        } catch {
            throw ListenError(
                address: address, code: (error as? IOError)?.errnoCode ?? EINVAL,
                advice: "choose another address or port under 'osc' in the configuration")
        }
    }

    /// Gives commands the gateway they are for.
    package func serve(_ gateway: Gateway) { serving.start(gateway) }

    /// Takes no more commands.
    package func stop() async { try? await channel.close() }
}

/// Turns datagrams into commands.
private final class OSCHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let serving: Serving
    private let log: Logger
    /// Shared with the gateway's thread, which tells what it refuses.
    private let complaints = ComplaintLog()

    init(serving: Serving, log: Logger) {
        self.serving = serving
        self.log = log
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let gateway = try? serving.running() else { return }
        guard let messages = OSCMessage.messages(in: unwrapInboundIn(data).data.readableBytesView) else {
            return complaints.note("what came is no Open Sound Control", log)
        }
        for message in messages {
            do throws(OSCError) {
                guard let command = try message.command() else { continue }
                gateway.submit(command) { [complaints, log] in complaints.note($0.description, log) }
            } catch {
                complaints.note(error.description, log)
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Of a datagram that could not be read; the next may be.
        complaints.note("\(error)", log)
    }
}

/// Logs what is wrong with messages, however many come.
private final class ComplaintLog: Sendable {
    private let gate = Mutex(ComplaintGate())

    func note(_ complaint: String, _ log: Logger) {
        guard gate.withLock({ $0.lets(complaint, at: .now) }) else { return }
        log.notice("OSC message refused", metadata: ["error": "\(complaint)"])
    }
}

/// Lets through what is news, and never too much of it.
struct ComplaintGate {
    private var last: (text: String, time: ContinuousClock.Instant)?

    /// Whether a text is to be logged: the last was long enough ago, and longer if it was the same.
    mutating func lets(_ text: String, at now: ContinuousClock.Instant) -> Bool {
        if let last, last.time.duration(to: now) < .seconds(last.text == text ? 600 : 10) { return false }
        last = (text, now)
        return true
    }
}
