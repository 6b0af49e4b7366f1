internal import Essentials
internal import Gateway
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore

/// Longest body of a request, in bytes.
let maximumBody = 64 * 1024

/// A request's context, with the address it came from.
struct ClientContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let client: Client

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        client = Client(source.channel.remoteAddress)
    }
}

/// How requests come in, and thus what they must show.
enum Entrance: Sendable {
    /// From a network; without a token only from pages and programs that name this server.
    case network(HTTPAddress, BearerToken?)
    /// From programs of this computer whom the file system lets in.
    case socket(ControlSocket)
}

/// All paths of the server, and how requests become commands.
func routes(by entrance: Entrance, serving: Serving, log: Logger) -> Router<ClientContext> {
    let router = Router(context: ClientContext.self, options: .autoGenerateHeadEndpoints)
    router.add(middleware: ErrorsAsJSON())
    router.add(middleware: OneHost())
    if case .network(let address, let token) = entrance {
        router.guardNetwork(OwnNames(address: address, serving: serving), token, log)
    }
    router.addReports(of: serving)
    router.addCommands(to: serving)
    router.addListening(of: serving)
    return router
}

extension Router where Context == ClientContext {
    /// Serves the panel, and guards all paths that are added later.
    fileprivate func guardNetwork(_ names: OwnNames, _ token: BearerToken?, _ log: Logger) {
        if token == nil { add(middleware: OwnOriginOnly(names: names)) }
        // The page itself contains no secrets; it requests its data with the token. Browsers ask for the others without it.
        serve("/", .get) { _, _ in Panel.response() }
        serve("/manifest.webmanifest", .get) { _, _ in Panel.manifest() }
        serve("/icon.svg", .get) { _, _ in Panel.icon() }
        serve("/icon.png", .get) { _, _ in Panel.bitmap() }
        guard let token else { return _ = add(middleware: SameSiteOnly()) }
        // A page of any origin must show it as everybody else. Its browser asks first, without the token, whether it may.
        add(
            middleware: CORSMiddleware(
                allowOrigin: .all, allowHeaders: [.authorization, .contentType],
                allowMethods: [.get, .post, .patch, .delete], maxAge: .hours(24)))
        add(middleware: ErrorsAsJSON())
        add(middleware: TokenRequired(token: token, names: names, log: log))
    }
}

extension Router where Context == ClientContext {
    /// Paths that read.
    fileprivate func addReports(of serving: Serving) {
        serve("/api/v1/status", .get) { _, _ in try jsonResponse(try serving.running().status()) }
        serve("/api/v1/ports", .get) { _, _ in try jsonResponse(try serving.running().ports) }
        serve("/api/v1/peers", .get) { _, _ in try jsonResponse(try await serving.running().peers()) }
        serve("/api/v1/changes", .get) { _, _ in try jsonResponse(try serving.running().changes) }
        serve("/api/v1/profiles", .get) { _, _ in try jsonResponse(try serving.running().profiles) }
        let (feed, places) = (StatusFeed { try serving.running().watchedStatus() }, StreamPlaces())
        serve("/api/v1/events", .get) { _, _ in
            _ = try serving.running()
            return eventStream(of: feed, at: try places.take())
        }
        serve("/metrics", .get) { _, _ in
            let metrics = Metrics(try serving.running().status())
            return textResponse(ByteBuffer(string: metrics.text), type: Metrics.contentType)
        }
        serve("/healthz", .get) { _, _ in
            if let trouble = try serving.running().clockTrouble() { throw RequestError.late(trouble) }
            return try jsonResponse(["status": "ok"])
        }
        // The description of all these paths; it is also served while the gateway is starting.
        serve("/api/v1/openapi.yaml", .get) { _, _ in
            textResponse(ByteBuffer(bytes: PackageResources.openapi_yaml), type: "application/yaml")
        }
    }
}

extension Router where Context == ClientContext {
    /// Paths that change something.
    fileprivate func addCommands(to serving: Serving) {
        for path in CommandPath.allCases {
            serve(RouterPath("/api/v1/\(path.rawValue)"), path.isPatch ? .patch : .post) { request, context in
                let output = path.namesOutput ? try context.pathID : nil
                return try await serving.perform(try Command(path, output: output, try await request.bytes))
            }
        }
        serve("/api/v1/qr", .post) { request, _ in
            let body = try CommandBody(["text"], in: try await request.bytes)
            return try jsonResponse(try AddressCode(body.required("text").text()))
        }
        serve("/api/v1/reload", .post) { request, _ in
            _ = try CommandBody(optional: [], in: try await request.bytes)
            let gateway = try serving.running()
            do throws(CommandError) {
                try await gateway.reload()
            } catch {
                throw RequestError(error)
            }
            return try jsonResponse(gateway.status())
        }
    }
}

extension Request {
    /// The body.
    ///
    /// - Throws: if it is longer than ``maximumBody``.
    var bytes: ByteBufferView {
        get async throws { try await body.collect(upTo: maximumBody).readableBytesView }
    }
}

extension ClientContext {
    /// The ID in the path; the router does not decode escapes such as `%2D`.
    var pathID: String {
        get throws {
            let id = try parameters.require("id")
            return id.percentDecoded ?? id
        }
    }
}

extension Serving {
    /// Carries out a command and answers with the resulting status.
    fileprivate func perform(_ command: Command) async throws -> Response {
        let gateway = try running()
        do throws(CommandError) {
            try await gateway.perform(command)
        } catch {
            throw RequestError(error)
        }
        return try jsonResponse(gateway.status())
    }
}

extension Router where Context == ClientContext {
    /// Adds a path with one method or several; all other methods in use get 405.
    ///
    /// - Parameters:
    ///   - path: where.
    ///   - method: the one.
    ///   - others: methods that the path is served with besides.
    ///   - answer: answers.
    func serve(
        _ path: RouterPath, _ method: HTTPRequest.Method, besides others: [HTTPRequest.Method] = [],
        _ answer: @escaping @Sendable (Request, ClientContext) async throws -> Response
    ) {
        on(path, method: method) { request, context in try await answer(request, context) }
        let served = [method] + others
        for other in [HTTPRequest.Method.get, .head, .post, .put, .patch, .delete, .options, .trace, .query]
        where !served.contains(other == .head ? .get : other) {
            on(path, method: other) { _, _ -> Response in throw RequestError.methodNotAllowed(served) }
        }
    }
}
