internal import Glibc

/// The descriptors of outputs' open lines; closes those that remain when it is destroyed.
struct OpenLines: ~Copyable {
    private var descriptors: Set<Int32> = []

    init() {}

    deinit { for descriptor in descriptors { Glibc.close(descriptor) } }

    /// Opens a line for writing, without ever blocking.
    ///
    /// - Returns: its descriptor, to be closed with ``close(_:)``.
    mutating func open(path: String, bitsPerSecond: Int) throws(RawLine.OpenError) -> Int32 {
        let descriptor = try RawLine.open(path: path, bitsPerSecond: bitsPerSecond, for: .writing)
        descriptors.insert(descriptor)
        return descriptor
    }

    /// Closes a line that is no longer used.
    mutating func close(_ descriptor: Int32) {
        if descriptors.remove(descriptor) != nil { Glibc.close(descriptor) }
    }
}
