internal import Hummingbird
internal import ServiceLifecycle
internal import Synchronization

/// A limited number of places for event streams.
final class StreamPlaces: Sendable {
    static let most = 64

    private let taken = Atomic(0)

    /// A place; free again when nobody holds this object any more.
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

/// A response of server-sent events that lasts until the client leaves or the server stops.
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

/// Marks an endless response for the rest of the server.
let eventStreamType = "text/event-stream"
