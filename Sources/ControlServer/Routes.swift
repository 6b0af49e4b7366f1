internal import Arbiter
internal import BeatTime
internal import Gateway
internal import HTTPTypes
internal import Hummingbird

/// The largest body of a request, in bytes.
let maximumBody = 64 * 1024

/// Everything that is served, and how requests become commands.
func routes(at address: HTTPAddress, token: BearerToken?, serving: Serving) -> Router<BasicRequestContext> {
    let router = Router(context: BasicRequestContext.self, options: .autoGenerateHeadEndpoints)
    router.add(middleware: ErrorsAsJSON())
    router.add(middleware: OwnOriginOnly(address: address, serving: serving))
    if let token { router.add(middleware: TokenRequired(token: token)) }

    router.serve("/api/v1/status", .get) { _ in try jsonResponse(try serving.running().status()) }

    router.command("/api/v1/link", "enabled", serving) { .enableLink(try $0.boolean()) }
    router.command("/api/v1/start-stop-sync", "enabled", serving) { .enableStartStopSync(try $0.boolean()) }
    router.command("/api/v1/transport", "playing", serving) { .setPlaying(try $0.boolean()) }
    router.command("/api/v1/tempo", "bpm", serving) {
        .setTempo(Tempo(beatsPerMinute: try $0.number(in: Tempo.allowed)))
    }
    return router
}

extension Router {
    /// Serves a path with one method and answers 405 to the others.
    fileprivate func serve(
        _ path: RouterPath, _ method: HTTPRequest.Method,
        _ answer: @escaping @Sendable (Request) async throws -> Response
    ) {
        on(path, method: method) { request, _ in try await answer(request) }
        let answered: Set<HTTPRequest.Method> = method == .get ? [.get, .head] : [method]
        for other in Set([.get, .head, .post, .put, .patch, .delete, .options]).subtracting(answered) {
            on(path, method: other) { _, _ -> Response in throw Refusal.methodNotAllowed(method) }
        }
    }

    /// Serves a command that takes one value by its key and answers with the status it led to.
    fileprivate func command(
        _ path: RouterPath, _ key: String, _ serving: Serving,
        _ command: @escaping @Sendable (CommandValue) throws -> Command
    ) {
        serve(path, .post) { request in
            let body = try await request.body.collect(upTo: maximumBody)
            let gateway = try serving.running()
            let command = try command(try CommandValue(of: key, in: body))
            do throws(CommandRefusal) {
                try await gateway.perform(command)
            } catch {
                throw Refusal(error)
            }
            return try jsonResponse(gateway.status())
        }
    }
}
