import PlainHTTP

/// Finds the data of server-sent events in bytes that come in pieces.
struct EventReader {
    /// What is no whole event yet.
    private var unread: [UInt8] = []

    /// Takes the next bytes.
    ///
    /// - Returns: the data of each event that is whole by now; events without data are left out.
    /// - Throws: when an event has no end.
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
