import PlainHTTP

/// Extracts the data of server-sent events from bytes that arrive in pieces.
struct EventReader {
    /// The beginning of an incomplete event.
    private var unread: [UInt8] = []

    /// Takes the next bytes.
    ///
    /// - Returns: the data of each event that is now complete; events without data are left out.
    /// - Throws: when an event is too long.
    mutating func read(_ bytes: [UInt8]) throws(HTTPFailure) -> [[UInt8]] {
        unread += bytes
        var data: [[UInt8]] = []
        while let gap = unread.firstRange(of: Array("\n\n".utf8)) {
            let lines = unread[..<gap.lowerBound].split(separator: UInt8(ascii: "\n"))
            let prefix = Array("data: ".utf8)
            if let line = lines.first(where: { $0.starts(with: prefix) }) { data.append(Array(line.dropFirst(6))) }
            unread.removeSubrange(..<gap.upperBound)
        }
        guard unread.count <= HTTPClient.longest else { throw .tooLong }
        return data
    }
}
