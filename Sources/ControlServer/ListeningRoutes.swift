internal import Gateway
internal import HTTPTypes
internal import Hummingbird
internal import Listening

extension Router where Context == ClientContext {
    /// Calibrating by listening: open a sound card, watch the level, measure, save; one at a time.
    func addListening(of serving: Serving) {
        serve("/api/v1/sound-cards", .get) { _, _ in try jsonResponse(try serving.listening().devices) }
        serve("/api/v1/outputs/:id/listening", .post) { request, context in
            let body = try CommandBody(
                ["device", "channel", "against", "inputLatencyMilliseconds"], in: try await request.bytes)
            let numbers = ListeningRequest.channelNumbers
            let wanted = ListeningRequest(
                output: try context.pathID, device: try body.required("device").text(),
                channel: try body.optional("channel")?.integer(in: numbers) ?? 1,
                against: try body.optional("against")?.integer(in: numbers),
                inputLatency: try body.optional("inputLatencyMilliseconds")?
                    .number(in: ListeningRequest.inputLatencies))
            return try await serving.listen { room throws(ListeningProblem) in try await room.open(wanted) }
        }
        let path = RouterPath("/api/v1/listening/:id")
        serve(path, .get, besides: [.delete]) { _, context in
            let id = try context.pathID
            return try await serving.listen { room throws(ListeningProblem) in try room.report(id) }
        }
        on(path, method: .delete) { _, context in
            let id = try context.pathID
            return try await serving.listen { room throws(ListeningProblem) in try await room.cancel(id) }
        }
        serve("/api/v1/listening/:id/measure", .post) { request, context in
            _ = try CommandBody(optional: [], in: try await request.bytes)
            let id = try context.pathID
            return try await serving.listen { room throws(ListeningProblem) in try room.measure(id) }
        }
        serve("/api/v1/listening/:id/save", .post) { request, context in
            _ = try CommandBody(optional: [], in: try await request.bytes)
            let id = try context.pathID
            return try await serving.listen { room throws(ListeningProblem) in try await room.save(id) }
        }
    }
}

extension Serving {
    /// Answers with how a calibration stands afterwards.
    fileprivate func listen(
        _ act: (ListeningRoom) async throws(ListeningProblem) -> ListeningReport
    ) async throws -> Response {
        let room = try listening()
        let report: ListeningReport
        do throws(ListeningProblem) {
            report = try await act(room)
        } catch {
            let status: HTTPResponse.Status =
                switch error.kind {
                case .badValue: .badRequest
                case .noSuchOutput: .notFound
                case .ambiguousName, .refused, .unavailable, .noPermission, .system, .cancelled: .conflict
                }
            throw RequestError(status: status, code: error.kind.rawValue, message: error.message)
        }
        return try jsonResponse(report)
    }
}
