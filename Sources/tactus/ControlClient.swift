import Arbiter
import ControlServer
import Essentials
import HTTPTypes
import PlainHTTP

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
        _ path: String, _ command: String?, method: HTTPRequest.Method = .post
    ) async throws -> (status: Status, json: String) {
        var request = HTTPRequest(
            method: command == nil ? .get : method, scheme: nil, authority: nil, path: "\(url.path)/api/v1/\(path)")
        if command != nil { request.headerFields[.contentType] = "application/json" }
        if let token { request.headerFields[.authorization] = "Bearer \(token.text)" }
        let answer: HTTPClient.Answer
        do {
            answer = try await HTTPClient(host: url.host, port: url.port).answer(to: request, body: command)
        } catch {
            throw Failure(.unavailable, "no gateway answers at \(url) (\(error)); start one with 'tactus run'")
        }
        guard answer.status == 200 else { throw refusal(answer) }
        guard let status = try? JSON.value(Status.self, from: answer.body.utf8) else { throw stranger }
        return (status, answer.body)
    }

    private func refusal(_ answer: HTTPClient.Answer) -> Failure {
        guard let error = try? JSON.value([String: Problem].self, from: answer.body.utf8),
            let problem = error["error"]
        else { return stranger }
        switch answer.status {
        case 401: return Failure(.noPermission, "\(url) wants a token; name its file with --token-file")
        case 403: return Failure(.noPermission, "\(url): \(problem.message)")
        case 422: return Failure(.badFile, problem.message)
        case 400: return Failure(.usage, problem.message)
        default: return Failure(.refused, problem.message)
        }
    }

    private var stranger: Failure {
        Failure(.unavailable, "what answers at \(url) is not a Tactus gateway of this kind")
    }
}

/// The error object of a refused request.
private struct Problem: Decodable {
    var code: String
    var message: String
}
