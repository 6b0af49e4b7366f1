internal import Glibc

/// A system call that the machine refused: which one, and why.
public struct SystemCallError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call's name, with its object where that helps, as `open /dev/ttyAMA0`.
    public var operation: String
    /// The value of errno.
    public var code: Int32

    public init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    public var description: String { "\(operation): \(String(cString: strerror(code)))" }
}

/// Returns the result of a call, or throws what errno says if it is negative; interrupted calls are made again.
@discardableResult
public func checked(_ operation: String, _ call: () -> Int32) throws(SystemCallError) -> Int32 {
    while true {
        let result = call()
        guard result < 0 else { return result }
        guard errno == EINTR else { throw SystemCallError(operation: operation, code: errno) }
    }
}
