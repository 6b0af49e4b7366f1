import ControlServer
import Essentials
import GatewayStatus
import HTTPTypes
import PlainHTTP

/// Talks to the control server of a gateway.
struct ControlClient {
    var url: ControlURL
    var token: BearerToken?

    /// Asks for the status, or gives a command and returns the resulting status.
    ///
    /// - Parameters:
    ///   - path: under `/api/v1/`.
    ///   - command: the JSON to send; nil only asks.
    ///   - method: the HTTP method of a command.
    /// - Returns: the status, and its JSON as received.
    /// - Throws: a `Failure` when nobody answers, or the gateway refuses. The type is not declared, because the
    ///   optimizer of Swift 6.3 crashes on it.
    func ask(
        _ path: String, _ command: String?, method: HTTPRequest.Method = .post
    ) async throws -> (status: Status, json: String) {
        let (status, json): (Status, String) = try await answer(command == nil ? .get : method, path, command)
        return (status, json)
    }

    /// Sends a request, and reads its answer from JSON.
    ///
    /// - Parameters:
    ///   - method: the HTTP method.
    ///   - path: under `/api/v1/`.
    ///   - body: the JSON to send, if any.
    /// - Returns: the value, and its JSON as received.
    /// - Throws: as ``ask(_:_:method:)`` does.
    func answer<Value: Decodable>(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil
    ) async throws -> (value: Value, json: String) {
        var request = request(method, path)
        if body != nil { request.headerFields[.contentType] = "application/json" }
        let answer: HTTPClient.Answer
        do {
            answer = try await client.answer(to: request, body: body)
        } catch {
            throw noAnswer(error)
        }
        guard answer.status == 200 else { throw refusal(answer) }
        guard let value = try? JSON.value(Value.self, from: answer.body.utf8) else { throw notAGateway }
        return (value, answer.body)
    }

    /// Passes on each status from the gateway, until the gateway ends or the task is cancelled.
    ///
    /// - Throws: a `Failure` when nobody answers any more, the gateway refuses, or the task is cancelled.
    func watch(_ receive: (Status) -> Void) async throws {
        var (events, refused) = (EventReader(), [UInt8]())
        let code: Int
        do {
            code = try await client.stream(request(.get, "events")) { code, bytes in
                guard code == 200 else {
                    refused += bytes
                    return refused.count < HTTPClient.longest
                }
                for text in try events.read(bytes) {
                    guard let status = try? JSON.value(Status.self, from: text) else { throw notAGateway }
                    receive(status)
                }
                return true
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw noAnswer(error)
        }
        guard code == 200 else {
            throw refusal(HTTPClient.Answer(status: code, body: String(decoding: refused, as: UTF8.self)))
        }
    }

    private var client: HTTPClient { HTTPClient(host: url.host, port: url.port) }

    private func request(_ method: HTTPRequest.Method, _ path: String) -> HTTPRequest {
        var request = HTTPRequest(method: method, scheme: nil, authority: nil, path: "\(url.path)/api/v1/\(path)")
        if let token { request.headerFields[.authorization] = "Bearer \(token.text)" }
        return request
    }

    private func noAnswer(_ error: any Error) -> Failure {
        let advice =
            url.isLoopback
            ? "start one with 'tactus run'" : "check that one runs there, and that its --http lets others in"
        return Failure(.unavailable, "no gateway answers at \(url) (\(error)); \(advice)")
    }

    private func refusal(_ answer: HTTPClient.Answer) -> Failure {
        guard let error = try? JSON.value([String: Problem].self, from: answer.body.utf8),
            let problem = error["error"]
        else { return notAGateway }
        switch answer.status {
        case 401:
            let reason =
                token == nil
                ? "wants a token; name its file with --token-file"
                : "does not accept this token; give the file of the gateway's own token after --token-file"
            return Failure(.noPermission, "\(url) \(reason)", code: problem.code)
        case 403: return Failure(.noPermission, "\(url): \(problem.message)", code: problem.code)
        case 422: return Failure(.badFile, problem.message, code: problem.code)
        case 400: return Failure(.usage, problem.message, code: problem.code)
        default: return Failure(.refused, problem.message, code: problem.code)
        }
    }

    private var notAGateway: Failure {
        Failure(.unavailable, "what answers at \(url) is not a Tactus gateway, or has another version; check --url")
    }
}

/// The error object of a refused request.
private struct Problem: Decodable {
    var code: String
    var message: String
}
