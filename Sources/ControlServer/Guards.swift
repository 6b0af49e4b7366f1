internal import Essentials
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Synchronization

/// Refuses requests with a `Host` or `Origin` other than this server's own.
///
/// A web page elsewhere can make a browser send requests here, and can even make its own name resolve to this machine.
/// These two headers, which a page cannot forge, reveal that.
struct OwnOriginOnly<Context: RequestContext>: RouterMiddleware {
    let address: HTTPAddress
    let serving: Serving

    @concurrent
    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        // The library has moved the first Host header to `head.authority`, so one that is still here is a second one.
        guard !request.headers.contains(where: { $0.name.canonicalName == "host" }) else {
            throw RequestError.badRequest("the request names its Host twice")
        }
        for target in request.headers[values: RequestTarget.header] where !isOwn(target) {
            throw RequestError.badRequest("the request is for the address of another server")
        }
        guard isOwn(request.head.authority) else { throw RequestError.foreign("Host") }
        for origin in request.headers[values: .origin] {
            guard origin.hasPrefix("http://"), isOwn(String(origin.dropFirst("http://".count))) else {
                throw RequestError.foreign("Origin")
            }
        }
        return try await next(request, context)
    }

    private func isOwn(_ text: String?) -> Bool {
        guard let text, let authority = Authority(text, defaultPort: 80), authority.port == serving.port
        else { return false }
        if ["localhost", "127.0.0.1", "::1", address.host].contains(authority.host) { return true }
        if address.isLoopback { return false }
        // A server open to other machines has a token, so it may also accept this machine's host name and, if it listens
        // at all addresses, any address.
        return isOwnName(authority.host) || (address.isWildcard && HTTPAddress(host: authority.host, port: 0) != nil)
    }

    private func isOwnName(_ host: String) -> Bool {
        let name = hostName().lowercased()
        let label = name.prefix { $0 != "." }
        return host == name || host == label || host == "\(label).local"
    }
}

/// Refuses requests without the token, and slows those who guess.
struct TokenRequired: RouterMiddleware {
    typealias Context = ClientContext

    let token: BearerToken
    let log: Logger
    private let guesses = Guesses()

    init(token: BearerToken, log: Logger) {
        self.token = token
        self.log = log
    }

    private final class Guesses: Sendable {
        let wrong = Mutex(WrongTokens())
    }

    @concurrent
    func handle(
        _ request: Request, context: ClientContext,
        next: @concurrent (Request, ClientContext) async throws -> Response
    ) async throws -> Response {
        guard let header = request.headers[.authorization] else { throw RequestError.unauthorized }
        let (verdict, logged) = guesses.wrong.withLock {
            $0.judge(header, from: context.client, by: token, at: .now)
        }
        if let logged {
            log.warning(
                "wrong tokens",
                metadata: ["address": "\(context.client.address)", "count since the last such line": "\(logged)"])
        }
        switch verdict {
        case .right: return try await next(request, context)
        case .wrong: throw RequestError.unauthorized
        case .refused: throw RequestError.tooManyGuesses
        }
    }
}
