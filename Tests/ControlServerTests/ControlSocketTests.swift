import ControlServer
import Foundation
import HTTPTypes
import PlainHTTP
import RealTime
import Testing

/// Sockets by which commands on the same computer reach a gateway.
@Suite(.timeLimit(.minutes(5)))
struct ControlSocketTests {
    /// A path in a folder of its own, which is removed afterwards.
    private func withPath(_ body: (String) async throws -> Void) async throws {
        let folder = "/tmp/tactus-\(UInt32.random(in: 0...UInt32.max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body("\(folder)/8808.sock")
    }

    private func server() async throws -> ControlServer {
        try await ControlServer.listening(
            at: HTTPAddress(host: "127.0.0.1", port: 0)!, token: BearerToken("Zm9vYmFyYmF6cXV4"),
            log: ServedGateway.log)
    }

    /// The status code of an answer at the socket; a gateway that is not there yet is 503.
    private func code(at path: String) async throws -> Int {
        let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/api/v1/status")
        return try await HTTPClient(at: .socket(path), timeout: 300).answer(to: request).status
    }

    private func mode(of path: String) -> mode_t? {
        var found = stat()
        return lstat(path, &found) == 0 ? found.st_mode & 0o777 : nil
    }

    @Test(arguments: [false, true])
    func `no token is wanted, the permissions are as asked, and nothing is left`(isForGroup: Bool) async throws {
        try await withPath { path in
            let server = try await server()
            try await server.listen(at: ControlSocket(path: path, isForGroup: isForGroup), log: ServedGateway.log)
            #expect(try await code(at: path) == 503)
            #expect(mode(of: path) == (isForGroup ? 0o660 : 0o600))
            await server.stop()
            #expect(mode(of: path) == nil)
        }
    }

    @Test
    func `a socket that a dead run has left is replaced, and that of a living one stays`() async throws {
        try await withPath { path in
            let socket = ControlSocket(path: path, isForGroup: false)
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            let left = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let bound = withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(left, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(bound == 0)
            close(left)

            let (first, second) = (try await server(), try await server())
            try await first.listen(at: socket, log: ServedGateway.log)
            await #expect(throws: SystemCallError(operation: "flock \(path).lock", code: EWOULDBLOCK)) {
                try await second.listen(at: socket, log: ServedGateway.log)
            }
            await second.stop()
            #expect(try await code(at: path) == 503)
            await first.stop()
        }
    }

    @Test
    func `what is no socket is not removed`() async throws {
        try await withPath { path in
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try "mine".write(toFile: path, atomically: false, encoding: .utf8)
            let server = try await server()
            await #expect(throws: SystemCallError.self) {
                try await server.listen(at: ControlSocket(path: path, isForGroup: false), log: ServedGateway.log)
            }
            await server.stop()
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
        }
    }
}
