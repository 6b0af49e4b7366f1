internal import Essentials
internal import Gateway
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// A refused request, as an HTTP status and `{"error":{"code":"…","message":"…"}}`.
struct RequestError: Error, HTTPResponseError {
    var status: HTTPResponse.Status
    /// A stable word for programs.
    var code: String
    /// For people: what is wrong, and how to fix it.
    var message: String
    var headers: HTTPFields = [:]

    static func badValue(_ message: String) -> RequestError {
        RequestError(status: .badRequest, code: "bad-value", message: message)
    }

    static func badRequest(_ message: String) -> RequestError {
        RequestError(status: .badRequest, code: "bad-request", message: message)
    }

    static func foreign(_ header: String) -> RequestError {
        RequestError(
            status: .forbidden, code: "foreign", message: "the request's \(header) names another server than this one")
    }

    static let otherSite = RequestError(
        status: .forbidden, code: "foreign",
        message: "the request comes from a web page of another site; a server with a token answers those that have it")

    static func methodNotAllowed(_ served: [HTTPRequest.Method]) -> RequestError {
        let names = served.flatMap { $0 == .get ? ["GET", "HEAD"] : [$0.rawValue] }.joined(separator: ", ")
        return RequestError(
            status: .methodNotAllowed, code: "method-not-allowed",
            message: "this path has other methods: \(names)", headers: [.allow: names])
    }

    static let unauthorized = RequestError(
        status: .unauthorized, code: "unauthorized", message: "the header Authorization: Bearer TOKEN is needed",
        headers: [.wwwAuthenticate: "Bearer"])

    static let tooManyGuesses = RequestError(
        status: .tooManyRequests, code: "too-many-guesses",
        message: "too many wrong tokens came from this address; wait a second", headers: [.retryAfter: "1"])

    static let starting = RequestError(
        status: .serviceUnavailable, code: "starting", message: "the gateway is starting", headers: [.retryAfter: "1"])

    static let tooManyStreams = RequestError(
        status: .serviceUnavailable, code: "too-many-streams",
        message: "\(StreamPlaces.most) event streams are open, and no more are allowed; close one",
        headers: [.retryAfter: "10"])

    static func late(_ reason: String) -> RequestError {
        RequestError(status: .serviceUnavailable, code: "late", message: reason)
    }

    /// A request that means no command.
    init(_ error: BadCommand) {
        switch error {
        case .badValue(let message): self = .badValue(message)
        case .notJSON(let keys, let isOne):
            let wanted =
                switch keys.count {
                case 0: "without keys, or empty"
                case 1: "with the key \(keys[0])"
                default: "with \(isOne ? "one" : "any") of the keys \(keys.joined(separator: ", "))"
                }
            self.init(
                status: .badRequest, code: "not-json", message: "the body must be one JSON object \(wanted)")
        }
    }

    /// An error from the gateway.
    init(_ refusal: CommandError) {
        let (status, code): (HTTPResponse.Status, String) =
            switch refusal {
            case .notLeader, .notTransportLeader: (.conflict, "not-leader")
            case .unclearName(let error) where error.isAmbiguous: (.conflict, "ambiguous-name")
            case .unclearName: (.notFound, "no-such-output")
            case .outOfRange: (.badRequest, "out-of-range")
            case .notConnected: (.conflict, "not-connected")
            case .notPlaying: (.conflict, "not-playing")
            case .notPlaceable: (.conflict, "not-placeable")
            case .notMutable: (.conflict, "not-mutable")
            case .nothingToUndo: (.conflict, "nothing-to-undo")
            case .changedSince: (.conflict, "changed-since")
            case .badConfiguration: (.unprocessableContent, "bad-configuration")
            case .refusedEdit: (.conflict, "edit-refused")
            case .busy: (.serviceUnavailable, "busy")
            }
        self.init(
            status: status, code: code, message: refusal.description,
            headers: refusal == .busy ? [.retryAfter: "1"] : [:])
    }

    /// An error from the HTTP library.
    init(_ error: any HTTPResponseError) {
        switch error.status {
        case .notFound: self.init(status: .notFound, code: "not-found", message: "nothing is served here")
        case .contentTooLarge:
            self.init(status: .contentTooLarge, code: "too-large", message: "a body is at most \(maximumBody) bytes")
        default:
            self.init(status: error.status, code: "bad-request", message: error.status.reasonPhrase.lowercased())
        }
    }

    init(status: HTTPResponse.Status, code: String, message: String, headers: HTTPFields = [:]) {
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        var response = try jsonResponse(["error": ["code": code, "message": message]])
        response.status = status
        response.headers.append(contentsOf: headers)
        return response
    }
}

/// Turns every error into a JSON response.
struct ErrorsAsJSON<Context: RequestContext>: RouterMiddleware {
    @concurrent
    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let refusal as RequestError {
            return try refusal.response(from: request, context: context)
        } catch let error as BadCommand {
            return try RequestError(error).response(from: request, context: context)
        } catch let error as any HTTPResponseError {
            return try RequestError(error).response(from: request, context: context)
        }
    }
}

/// A response of 200 with a value as JSON.
func jsonResponse(_ value: some Encodable) throws -> Response {
    textResponse(ByteBuffer(bytes: try JSON.bytes(value)), type: "application/json; charset=utf-8")
}

/// A response of 200 with a text.
func textResponse(_ text: ByteBuffer, type: String, headers: HTTPFields = [:]) -> Response {
    var all: HTTPFields = [.contentType: type, .cacheControl: "no-store", .xContentTypeOptions: "nosniff"]
    all.append(contentsOf: headers)
    return Response(status: .ok, headers: all, body: ResponseBody(byteBuffer: text))
}
