import Essentials
import Foundation
import Glibc
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import ControlServer

@Suite
struct ListeningTests {
    private let anyPort = HTTPAddress(host: "127.0.0.1", port: 0)!  // a literal address

    @Test
    func `a port in use is reported with the fix`() async throws {
        let first = try await ControlServer.listening(at: anyPort, token: nil, log: ServedGateway.log)
        let taken = try #require(HTTPAddress(host: "127.0.0.1", port: first.port))
        let error = await #expect(throws: ListenError.self) {
            try await ControlServer.listening(at: taken, token: nil, log: ServedGateway.log)
        }
        #expect(error?.code == EADDRINUSE)
        let own = try String(contentsOfFile: "/proc/self/comm", encoding: .utf8).trimmingCharacters(in: .newlines)
        #expect(
            error?.description == """
                127.0.0.1:\(first.port) is taken by \(own) (process \(getpid())); choose another address with --http \
                ADDRESS:PORT, or use none with --no-http
                """)
        await first.stop()
        // Once it has stopped, the next one may use the port.
        let next = try await ControlServer.listening(at: taken, token: nil, log: ServedGateway.log)
        await next.stop()
    }

    @Test
    func `an address that this machine does not have yet is waited for`() async throws {
        let elsewhere = try #require(HTTPAddress("192.0.2.1:8808"))
        let server = try await ControlServer.listening(at: elsewhere, token: nil, log: ServedGateway.log)
        #expect(server.trouble?.isAddressAway == true)
        await server.stop()
        let osc = try await OSCServer.listening(at: elsewhere, log: ServedGateway.log)
        #expect(osc.trouble?.description.hasPrefix("192.0.2.1:8808 is not an address of this machine; choose") == true)
        await osc.stop()
    }

    @Test
    func `one that waits tries until it succeeds, whatever happens meanwhile`() async throws {
        let elsewhere = try #require(HTTPAddress("192.0.2.1:8808"))
        let codes = Mutex([EADDRNOTAVAIL, EADDRNOTAVAIL, EADDRINUSE, EADDRNOTAVAIL])
        let listener = try await Listener(every: .milliseconds(1)) { () async throws(ListenError) in
            let code = codes.withLock { $0.isEmpty ? 0 : $0.removeFirst() }
            if code != 0 { throw ListenError(elsewhere, code: code, .tcp) }
            return 42
        }
        while listener.opened == nil { await Task.yield() }
        #expect(listener.trouble == nil)
        #expect(await listener.stop() == 42)
        for code in [EADDRINUSE, EACCES] {
            await #expect(throws: ListenError.self) {
                _ = try await Listener { () async throws(ListenError) -> Int in
                    throw ListenError(elsewhere, code: code, .tcp)
                }
            }
        }
    }

    @Test(arguments: [
        ("GET /api/v1/none HTTP/1.1", "Host: OWN", 404), ("GET http://OWN/api/v1/none HTTP/1.1", "Host: OWN", 404),
        ("GET /api/v1/none HTTP/1.1", "Host: OWN\r\nHost: OWN", 400),
        ("GET /api/v1/none HTTP/1.1", "Host: OWN\r\nhOST: evil.example", 400),
        ("GET http://evil.example/api/v1/none HTTP/1.1", "Host: OWN", 400),
        ("GET http://evil.example/api/v1/none HTTP/1.1", "Host: evil.example", 400),
        ("GET http://OWN@evil.example/api/v1/none HTTP/1.1", "Host: OWN", 400),
        ("GET https://OWN/api/v1/none HTTP/1.1", "Host: OWN", 400),
        ("GET http://OWN/api/v1/none HTTP/1.1", "Host: evil.example", 403),
    ])
    func `a request has one Host, and is for this server`(line: String, headers: String, status: Int) async throws {
        let server = try await ControlServer.listening(at: anyPort, token: nil, log: ServedGateway.log)
        let text = "\(line)\r\n\(headers)\r\nConnection: close\r\n\r\n"
            .replacing("OWN", with: "localhost:\(server.port)")
        let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: server.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let answer = try await client.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            var answer = ""
            for try await bytes in inbound { answer += String(buffer: bytes) }
            return answer
        }
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
        await server.stop()
    }

    @Test(.timeLimit(.minutes(30)))
    func `stopping does not wait for a client that keeps its connection or its request open`() async throws {
        let server = try await ControlServer.listening(at: anyPort, token: nil, log: ServedGateway.log)
        let clients = try await [
            "", "GET /api/v1/status HTTP/1.1\r\n",
            "POST /api/v1/tempo HTTP/1.1\r\nHost: localhost:\(server.port)\r\nContent-Length: 100\r\n\r\n{",
        ].mapped { request in
            let client = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connect(host: "127.0.0.1", port: server.port).get()
            try await client.writeAndFlush(ByteBuffer(string: request))
            return client
        }
        await server.stop()
        for client in clients { try await client.closeFuture.get() }
    }
}

extension Array {
    fileprivate func mapped<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
