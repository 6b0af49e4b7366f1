internal import Hummingbird
internal import ServiceLifecycle
internal import Synchronization

/// Places for event streams; there are so many and no more.
final class StreamPlaces: Sendable {
    static let most = 64

    private let taken = Atomic(0)

    /// A place, which is free again when nobody holds this any more.
    final class Place: Sendable {
        private let places: StreamPlaces

        fileprivate init(_ places: StreamPlaces) { self.places = places }

        deinit { places.taken.subtract(1, ordering: .relaxed) }
    }

    func take() throws(RequestError) -> Place {
        let place = taken.add(1, ordering: .relaxed).newValue <= Self.most
        guard place else {
            taken.subtract(1, ordering: .relaxed)
            throw .tooManyStreams
        }
        return Place(self)
    }
}

/// An answer that goes on until the client leaves or the server stops: server-sent events.
func eventStream(of feed: StatusFeed, at place: StreamPlaces.Place) -> Response {
    Response(
        status: .ok,
        headers: [.contentType: eventStreamType, .cacheControl: "no-store", .xContentTypeOptions: "nosniff"],
        body: ResponseBody { writer in
            var progress = StatusFeed.Progress()
            try await writer.write(ByteBuffer(string: "retry: 1000\n\n"))
            while !Task.isShuttingDownGracefully {
                if let event = try feed.event(after: &progress, at: .now) { try await writer.write(event) }
                try await Task.sleep(until: feed.nextLook(after: .now))
            }
            try await writer.finish(nil)
            _ = place
        })
}

/// By this the rest of the server knows an answer that has no end.
let eventStreamType = "text/event-stream"
