import Arbiter
import AsyncHTTPClient
import ControlServer
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// Where a gateway's control server is.
struct ControlURL: Hashable, CustomStringConvertible {
    static let standard = ControlURL(description: "http://127.0.0.1:8808")

    /// Without a slash at the end.
    let description: String

    private init(description: String) { self.description = description }

    init(argument: String) throws(BadArgument) {
        guard let parts = URLComponents(string: argument), ["http", "https"].contains(parts.scheme), parts.query == nil,
            parts.fragment == nil, parts.user == nil, let host = parts.host, !host.isEmpty,
            (1...65535).contains(parts.port ?? 80)
        else { throw BadArgument("a URL is such as http://127.0.0.1:8808") }
        description = String(argument.reversed().drop { $0 == "/" }.reversed())
    }
}

/// Talks to the control server of a gateway.
struct ControlClient {
    var url: ControlURL
    var token: BearerToken?

    /// Asks for the status, or gives a command whose answer is the status.
    ///
    /// - Parameters:
    ///   - path: under `/api/v1/`.
    ///   - command: the JSON to send; nil only asks.
    ///   - method: how a command is sent.
    /// - Returns: the status, and the very JSON that said so.
    /// - Throws: a `Failure` when nobody answers, or the gateway refuses. It is not named below, since the optimizer of
    ///   Swift 6.3 breaks down where it is.
    func ask(
        _ path: String, _ command: String?, method: HTTPMethod = .POST
    ) async throws -> (status: Status, json: String) {
        var request = HTTPClientRequest(url: "\(url)/api/v1/\(path)")
        if let command {
            request.method = method
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(string: command))
        }
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token.text)") }
        let (code, body) = try await exchange(request)
        guard code == .ok else { throw refusal(code, body) }
        guard let status = try? JSONDecoder().decode(Status.self, from: Data(body.utf8)) else { throw stranger }
        return (status, body)
    }

    private func exchange(_ request: HTTPClientRequest) async throws -> (HTTPResponseStatus, String) {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let outcome: Result<(HTTPResponseStatus, String), any Error>
        do {
            let response = try await client.execute(request, timeout: .seconds(3))
            outcome = .success((response.status, String(buffer: try await response.body.collect(upTo: 1 << 20))))
        } catch {
            outcome = .failure(error)
        }
        try? await client.shutdown()  // the answer counts, not how the connection ends
        switch outcome {
        case .success(let answer): return answer
        case .failure(let error):
            throw Failure(.unavailable, "no gateway answers at \(url) (\(reason(error))); start one with 'tactus run'")
        }
    }

    private func refusal(_ code: HTTPResponseStatus, _ body: String) -> Failure {
        guard let answer = try? JSONDecoder().decode([String: Problem].self, from: Data(body.utf8)),
            let problem = answer["error"]
        else { return stranger }
        switch code {
        case .unauthorized: return Failure(.noPermission, "\(url) wants a token; name its file with --token-file")
        case .forbidden: return Failure(.noPermission, "\(url): \(problem.message)")
        case .unprocessableEntity: return Failure(.badFile, problem.message)
        case .badRequest: return Failure(.usage, problem.message)
        default: return Failure(.refused, problem.message)
        }
    }

    private var stranger: Failure {
        Failure(.unavailable, "what answers at \(url) is not a Tactus gateway of this kind")
    }

    private func reason(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError where error.connectionErrors.isEmpty: "unknown host"
        case let error as NIOConnectionError: reason(error.connectionErrors[0].error)
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as HTTPClientError where [.deadlineExceeded, .connectTimeout].contains(error): "no answer in 3 s"
        case let error as HTTPClientError: error.shortDescription
        default: "\(error)"
        }
    }
}

/// The error object of a refused request.
private struct Problem: Decodable {
    var code: String
    var message: String
}
