internal import Glibc

/// The descriptors of the lines that outputs write to; what is still open is closed with it.
struct OpenLines: ~Copyable {
    private var descriptors: Set<Int32> = []

    init() {}

    deinit { for descriptor in descriptors { Glibc.close(descriptor) } }

    /// Opens a line to write to, without ever waiting for it.
    ///
    /// - Returns: its descriptor, which ``close(_:)`` closes.
    mutating func open(path: String, bitsPerSecond: Int) throws(RawLine.OpenError) -> Int32 {
        let descriptor = try RawLine.open(path: path, bitsPerSecond: bitsPerSecond, for: .writing)
        descriptors.insert(descriptor)
        return descriptor
    }

    /// Closes a line that nobody uses any more.
    mutating func close(_ descriptor: Int32) {
        if descriptors.remove(descriptor) != nil { Glibc.close(descriptor) }
    }
}
