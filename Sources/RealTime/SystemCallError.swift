internal import Glibc

/// A failed system call, and why it failed.
///
/// ```swift
/// let error = SystemCallError(operation: "open /dev/snd/seq", code: 13)
/// assert(error.description == "open /dev/snd/seq: Permission denied")
/// ```
public struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Name of the call, with its object where useful, as in `open /dev/ttyAMA0`.
    public var operation: String
    /// The value of errno.
    public var code: Int32

    public init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    public var description: String { "\(operation): \(String(cString: strerror(code)))" }
}

/// Returns the result of a call, or throws errno if it is negative; repeats interrupted calls.
@discardableResult
public func checked(_ operation: String, _ call: () -> Int32) throws(SystemCallError) -> Int32 {
    while true {
        let result = call()
        guard result < 0 else { return result }
        guard errno == EINTR else { throw SystemCallError(operation: operation, code: errno) }
    }
}
