import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import PlainHTTP

@Suite
struct HTTPClientTests {
    private let question = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/status")

    /// More patient than any machine is slow.
    private func client(_ port: Int) -> HTTPClient { HTTPClient(host: "127.0.0.1", port: port, timeout: 300) }

    private func answer(to bytes: String) async throws -> HTTPClient.Answer {
        try await CannedServer.serving(bytes) { server in
            try await client(server.port).answer(to: question)
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi"),
        ("HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n3\r\nne!\r\n0\r\n\r\n", 404, "none!"),
        ("HTTP/1.1 200 OK\r\n\r\nuntil the end", 200, "until the end"),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", 204, ""),
        ("HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n", 302, ""),
    ])
    func `an answer is read whichever way its length is told`(bytes: String, status: Int, body: String) async throws {
        let answer = try await answer(to: bytes)
        #expect(answer.status == status && answer.body == body)
    }

    @Test(arguments: [
        ("", HTTPFailure.cutShort), ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi", .cutShort),
        ("SSH-2.0-OpenSSH_9.2\r\n", .notHTTP), ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", .notHTTP),
        ("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: HTTPClient.longest + 1), .tooLong),
    ])
    func `what is no answer is told apart`(bytes: String, failure: HTTPFailure) async throws {
        await #expect(throws: failure) { try await answer(to: bytes) }
    }

    @Test
    func `a command is sent whole, to the server by its name`() async throws {
        let request = try await CannedServer.serving("HTTP/1.1 204 No Content\r\n\r\n") { server in
            var command = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/tempo")
            command.headerFields[.authorization] = "Bearer secret"
            _ = try await client(server.port).answer(to: command, body: #"{"bpm":90}"#)
            return server.request.replacing("\(server.port)", with: "PORT")
        }
        let lines = request.split(separator: "\r\n").map { $0.lowercased() }
        #expect(lines.first == "post /tempo http/1.1" && lines.last == #"{"bpm":90}"#)
        let headers = [
            "host: 127.0.0.1:port", "authorization: bearer secret", "content-length: 10", "connection: close",
        ]
        #expect(Set(lines.dropFirst().dropLast()) == Set(headers))
    }

    @Test
    func `where nobody listens the system says why`() async throws {
        let port = try await CannedServer.serving("") { $0.port }
        await #expect(throws: HTTPFailure.system(111)) {
            try await client(port).answer(to: question)
        }
        await #expect(throws: HTTPFailure.unknownHost) {
            try await HTTPClient(host: "no-such-host.invalid", port: 80).answer(to: question)
        }
    }

    @Test
    func `a stream is handed out until its reader has enough`() async throws {
        let bytes = "HTTP/1.1 200 OK\r\n\r\none\n\ntwo\n\n"
        let text = try await CannedServer.serving(bytes) { server in
            var text = ""
            try await client(server.port).stream(question) { status, bytes in
                #expect(status == 200)
                text += String(decoding: bytes, as: UTF8.self)
                return !text.contains("two")
            }
            return text
        }
        #expect(text == "one\n\ntwo\n\n")
    }
}

/// In virtual time: the channel's clock stands still until it is advanced.
@Suite
struct AnswerDeadlineTests {
    private func channel(_ timing: AnswerDeadline.Timing) throws -> EmbeddedChannel {
        let loop = EmbeddedEventLoop()
        return EmbeddedChannel(handler: AnswerDeadline(in: 3, from: loop.now, timing), loop: loop)
    }

    @Test
    func `a whole answer that trickles is late all the same`() throws {
        let channel = try channel(.whole)
        for _ in 0..<2 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            try channel.writeInbound(HTTPResponsePart.body(ByteBuffer(string: " ")))
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(throws: HTTPFailure.late(seconds: 3)) { try channel.throwIfErrorCaught() }
    }

    @Test
    func `a stream is late only if nothing comes for as long`() throws {
        let channel = try channel(.parts)
        for _ in 0..<5 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(2))
            try channel.writeInbound(HTTPResponsePart.body(ByteBuffer(string: " ")))
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(3))
        #expect(throws: HTTPFailure.late(seconds: 3)) { try channel.throwIfErrorCaught() }
    }
}
