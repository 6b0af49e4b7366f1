internal import Essentials
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import Synchronization

/// Refuses requests that name their `Host` twice, because proxies and servers may then disagree about which one counts.
struct OneHost<Context: RequestContext>: RouterMiddleware {
    @concurrent
    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        // The library has moved the first Host header to `head.authority`, so one that is still here is a second one.
        guard !request.headers.contains(where: { $0.name.canonicalName == "host" }) else {
            throw RequestError.badRequest("the request names its Host twice")
        }
        return try await next(request, context)
    }
}

/// The names under which clients may reach this server.
struct OwnNames {
    let address: HTTPAddress
    let serving: Serving

    /// Whether a `Host` header names this server.
    func contain(_ text: String?) -> Bool {
        guard let text, let authority = Authority(text, defaultPort: 80), authority.port == serving.port
        else { return false }
        if ["localhost", "127.0.0.1", "::1", address.host].contains(authority.host) { return true }
        if address.isLoopback { return false }
        return isHostName(authority.host) || (address.isWildcard && HTTPAddress(host: authority.host, port: 0) != nil)
    }

    private func isHostName(_ host: String) -> Bool {
        let name = hostName().lowercased()
        let label = name.prefix { $0 != "." }
        return host == name || host == label || host == "\(label).local"
    }

    /// Whether a web page of another origin may have made a browser send the request.
    ///
    /// Its own name may even resolve to this machine. A page cannot forge the two headers that reveal it.
    func mayBeForeign(_ request: Request) -> Bool {
        let authority = request.head.authority
        return !contain(authority)
            || request.headers[values: .origin].contains { origin in
                !["http", "https"].contains { origin == "\($0)://\(authority ?? "")" }
            }
    }
}

/// Without a token: refuses requests with a `Host` or `Origin` other than this server's own.
///
/// A web page elsewhere can make a browser send requests here, and can even make its own name resolve to this machine.
/// These two headers, which a page cannot forge, reveal that.
struct OwnOriginOnly<Context: RequestContext>: RouterMiddleware {
    let names: OwnNames

    @concurrent
    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        for target in request.headers[values: RequestTarget.header] where !names.contain(target) {
            throw RequestError.badRequest("the request is for the address of another server")
        }
        guard names.contain(request.head.authority) else { throw RequestError.foreign("Host") }
        for origin in request.headers[values: .origin] {
            guard origin.hasPrefix("http://"), names.contain(String(origin.dropFirst("http://".count))) else {
                throw RequestError.foreign("Origin")
            }
        }
        return try await next(request, context)
    }
}

/// Without a token: refuses what a page of another site makes a browser send, even if it says nothing of its origin.
///
/// Links to the panel's bare page are served before.
struct SameSiteOnly<Context: RequestContext>: RouterMiddleware {
    @concurrent
    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard request.headers[.secFetchSite] != "cross-site" else { throw RequestError.otherSite }
        return try await next(request, context)
    }
}

extension HTTPField.Name {
    fileprivate static let secFetchSite = Self("Sec-Fetch-Site")!  // a valid name
}

/// Refuses requests without the token, and slows those who guess.
struct TokenRequired: RouterMiddleware {
    typealias Context = ClientContext

    let token: BearerToken
    let names: OwnNames
    let log: Logger
    private let guesses = Guesses()

    init(token: BearerToken, names: OwnNames, log: Logger) {
        self.token = token
        self.names = names
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
        var client = context.client
        client.mayBeForeignPage = names.mayBeForeign(request)
        let (verdict, logged) = guesses.wrong.withLock { $0.judge(header, from: client, by: token, at: .now) }
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
