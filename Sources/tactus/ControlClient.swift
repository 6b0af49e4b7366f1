import ControlServer
import Essentials
import Gateway
import GatewayStatus
import Glibc
import HTTPTypes
import PlainHTTP

/// Talks to the control server of a gateway.
struct ControlClient {
    var url: ControlURL
    var token: BearerToken?
    /// Sockets of this computer that are tried first.
    var sockets: [String] = []
    /// Longest wait for an answer, in seconds.
    var timeout: Int64 = 10

    /// Asks at a path, and returns the resulting status.
    ///
    /// - Parameters:
    ///   - path: under `/api/v1/`.
    ///   - body: the JSON to send; nil only asks.
    /// - Returns: the status, and its JSON as received.
    /// - Throws: a `Failure` when nobody answers, or the gateway refuses. The type is not declared, because the
    ///   optimizer of Swift 6.3 crashes on it.
    func ask(_ path: String, _ body: String?) async throws -> (status: Status, json: String) {
        let (status, json): (Status, String) = try await answer(body == nil ? .get : .post, path, body)
        return (status, json)
    }

    /// Gives the gateway a command, which must be one that has a ``Command/request``.
    ///
    /// - Returns: the resulting status, and its JSON as received.
    /// - Throws: as ``ask(_:_:)`` does.
    func give(_ command: Command) async throws -> (status: Status, json: String) {
        guard let request = command.request else { preconditionFailure("\(command) cannot be asked for") }
        let (status, json): (Status, String) = try await answer(
            request.path.isPatch ? .patch : .post, request.address, request.body.json)
        return (status, json)
    }

    /// Sends a request, and reads its answer from JSON.
    ///
    /// - Parameters:
    ///   - method: the HTTP method.
    ///   - path: under `/api/v1/`.
    ///   - body: the JSON to send, if any.
    /// - Returns: the value, and its JSON as received.
    /// - Throws: as ``ask(_:_:)`` does.
    func answer<Value: Decodable>(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil
    ) async throws -> (value: Value, json: String) {
        var request = request(method, path)
        if body != nil { request.headerFields[.contentType] = "application/json" }
        let (answer, isDenied) = try await reach { try await $0.answer(to: request, body: body) }
        guard answer.status == 200 else { throw refusal(answer, isDenied) }
        guard let value = try? JSON.value(Value.self, from: answer.body.utf8) else { throw notAGateway }
        return (value, answer.body)
    }

    /// Passes on each status from the gateway, until the gateway ends or the task is cancelled.
    ///
    /// - Throws: a `Failure` when nobody answers any more, the gateway refuses, or the task is cancelled.
    func watch(_ receive: (Status) -> Void) async throws {
        var (events, refused) = (EventReader(), [UInt8]())
        let (code, isDenied) = try await reach {
            try await $0.stream(request(.get, "events")) { code, bytes in
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
        }
        guard code == 200 else {
            throw refusal(HTTPClient.Answer(status: code, body: String(decoding: refused, as: UTF8.self)), isDenied)
        }
    }

    /// Does something by the first socket at which somebody listens, else by the URL.
    ///
    /// - Returns: the outcome, and whether the service's socket does not let this user in.
    private func reach<Outcome>(
        _ exchange: (HTTPClient) async throws -> Outcome
    ) async throws -> (Outcome, isDenied: Bool) {
        var isDenied = false
        for path in sockets {
            do {
                return (try await exchange(HTTPClient(at: .socket(path), timeout: timeout)), false)
            } catch HTTPFailure.system(let code) where [ENOENT, ENOTDIR, ECONNREFUSED].contains(code) {
                continue
            } catch HTTPFailure.system(EACCES) {
                isDenied = isDenied || path == ControlSockets.ofService
            } catch let failure as Failure {
                throw failure
            } catch {
                throw noAnswer(error)
            }
        }
        do {
            return (try await exchange(HTTPClient(host: url.host, port: url.port, timeout: timeout)), isDenied)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw noAnswer(error)
        }
    }

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

    private func refusal(_ answer: HTTPClient.Answer, _ isDenied: Bool) -> Failure {
        guard let error = try? JSON.value([String: Problem].self, from: answer.body.utf8),
            let problem = error["error"]
        else { return notAGateway }
        switch answer.status {
        case 401:
            let reason =
                isDenied
                ? "wants a token from you, since you are not in the group \(ControlSockets.group): 'sudo usermod -aG "
                    + "\(ControlSockets.group) $USER', then log in again; or name the token's file with --token-file"
                : token == nil
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
