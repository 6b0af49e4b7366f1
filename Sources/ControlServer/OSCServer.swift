internal import Essentials
package import Gateway
package import Logging
internal import NIOCore
internal import NIOPosix
internal import OpenSoundControl
internal import Synchronization

/// Receives commands by Open Sound Control over UDP; never answers.
package final class OSCServer: Sendable {
    private let listener: Listener<any Channel>
    private let serving: Serving

    private init(_ listener: Listener<any Channel>, serving: Serving) {
        self.listener = listener
        self.serving = serving
    }

    /// Starts listening at an address, or waits for it if this machine does not have it yet; messages before
    /// ``serve(_:)`` are ignored.
    ///
    /// - Parameters:
    ///   - address: anyone who can reach it can give commands, since the protocol has no secrets.
    ///   - log: receives invalid and refused messages.
    /// - Returns: the server, once it listens, or the address is waited for.
    /// - Throws: when the address cannot be used.
    package static func listening(at address: HTTPAddress, log: Logger) async throws(ListenError) -> OSCServer {
        let serving = Serving()
        let listener = try await Listener { () async throws(ListenError) in
            try await channel(at: address, serving: serving, log: log)
        }
        return OSCServer(listener, serving: serving)
    }

    private static func channel(
        at address: HTTPAddress, serving: Serving, log: Logger
    ) async throws(ListenError) -> any Channel {
        do {
            return try await DatagramBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(OSCHandler(serving: serving, log: log))
                    }
                }
                .bind(host: address.host, port: address.port).get()
        } catch {
            var failure = ListenError(address, code: (error as? IOError)?.errnoCode ?? EINVAL, .udp)
            failure.advice = "choose another address or port under 'osc' in the configuration"
            throw failure
        }
    }

    /// Why it does not listen yet; nil once it does.
    package var trouble: ListenError? { listener.trouble }

    /// Sets the gateway that commands are for.
    package func serve(_ gateway: Gateway) { serving.start(gateway) }

    /// Stops receiving commands.
    package func stop() async { try? await listener.stop()?.close() }
}

/// Turns datagrams into commands.
private final class OSCHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let serving: Serving
    private let log: Logger
    /// Shared with the gateway's thread, which reports refused commands.
    private let complaints = ComplaintLog()

    init(serving: Serving, log: Logger) {
        self.serving = serving
        self.log = log
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let gateway = try? serving.running() else { return }
        let packet = OSCPacket(unwrapInboundIn(data).data.readableBytesView)
        if packet.isDamaged { complaints.note("a message came that is not Open Sound Control", log) }
        for message in packet.messages {
            do throws(OSCError) {
                guard let command = try message.command() else { continue }
                gateway.submit(command) { [complaints, log] in complaints.note($0.description, log) }
            } catch {
                complaints.note(error.description, log)
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The error concerns one datagram; the next may be fine.
        complaints.note("\(error)", log)
    }
}

/// Logs problems with messages, at a limited rate.
private final class ComplaintLog: Sendable {
    private let gate = Mutex(ComplaintGate())

    func note(_ complaint: String, _ log: Logger) {
        let complaint = ComplaintGate.shortened(complaint)
        guard gate.withLock({ $0.lets(complaint, at: .now) }) else { return }
        log.notice("OSC message refused", metadata: ["error": "\(complaint)"])
    }
}

/// Limits the rate of log messages, and suppresses repeated ones.
struct ComplaintGate {
    private var last: (text: String, time: ContinuousClock.Instant)?

    /// Longest text, in Unicode scalars: it quotes what a stranger sent.
    static let longest = 200

    /// A text that is too long, with `...` for the rest.
    static func shortened(_ text: String) -> String {
        // Not in characters, since one of those may be of any length.
        let scalars = text.unicodeScalars
        guard scalars.count > longest else { return text }
        return String(scalars.prefix(longest - 3)) + "..."
    }

    /// Whether to log a text: the last one was long enough ago, and longer if it was the same.
    mutating func lets(_ text: String, at now: ContinuousClock.Instant) -> Bool {
        if let last, last.time.duration(to: now) < .seconds(last.text == text ? 600 : 10) { return false }
        last = (text, now)
        return true
    }
}
