internal import CALSA
internal import Glibc
internal import Synchronization

/// A failed libasound call: its name and its (negative) error code.
package struct ALSAError: Error, Hashable, Sendable, CustomStringConvertible {
    package var operation: String
    package var code: Int32

    package init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    package var description: String { "\(operation): \(String(cString: snd_strerror(code)))" }

    /// Whether another program is using what was asked for.
    package var isTaken: Bool { code == -EBUSY || code == -EAGAIN }

    /// Whether this user may not do what was asked for.
    package var isForbidden: Bool { code == -EACCES || code == -EPERM }

    /// What the user can do if a client could not be opened; a command or a request.
    package var openingFix: String {
        switch code {
        case -EACCES, -EPERM: "join the group audio and log in again"
        case -ENOMEM: "close other MIDI programs, since the sequencer has no client left"
        default: "'tactus doctor' tells how to get the sequencer"
        }
    }

    /// Whether the port or its device no longer exists.
    package var isGone: Bool { [-ENODEV, -ENXIO, -ENOENT, -EINVAL].contains(code) }
}

/// Returns the result of a libasound call, or throws its error code.
@discardableResult
package func check(_ operation: String, _ result: Int32) throws(ALSAError) -> Int32 {
    guard result >= 0 else { throw ALSAError(operation: operation, code: result) }
    return result
}

/// Error messages that libasound would otherwise print to the terminal.
package enum ALSAComplaints {
    private static let sink = Mutex<@Sendable (String) -> Void>({ _ in })

    /// Passes every message to `report` from now on, on the thread that called libasound.
    package static func capture(_ report: @escaping @Sendable (String) -> Void) {
        sink.withLock { $0 = report }
        calsa_capture_complaints()
    }

    fileprivate static func pass(_ text: String) { sink.withLock { $0 }(text) }
}

@_cdecl("calsa_report")
func reportComplaint(_ text: UnsafePointer<CChar>?) {
    if let text { ALSAComplaints.pass(String(cString: text)) }
}
