internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Why a request got no answer, as a clause.
package enum HTTPFailure: Error, Hashable, CustomStringConvertible {
    case unknownHost
    /// The system's reason, as a value of errno.
    case system(Int32)
    case late(seconds: Int64)
    case tooLong
    case cutShort
    case notHTTP

    /// The meaning of a network error after a timeout in seconds; nil if it is not from the network library.
    init?(_ error: any Error, after timeout: Int64) {
        switch error {
        case let error as HTTPFailure: self = error
        case let error as NIOConnectionError where error.connectionErrors.isEmpty: self = .unknownHost
        case let error as NIOConnectionError: self.init(error.connectionErrors[0].error, after: timeout)
        case let error as IOError: self = .system(error.errnoCode)
        case ChannelError.connectTimeout: self = .late(seconds: timeout)
        case is ChannelError: self = .cutShort
        case HTTPParserError.invalidEOFState: self = .cutShort
        case is HTTPParserError: self = .notHTTP
        default: return nil
        }
    }

    package var description: String {
        switch self {
        case .unknownHost: "unknown host"
        case .system(let code): String(cString: strerror(code))
        case .late(let seconds): "no answer in \(seconds) s"
        case .tooLong: "its answer is longer than \(HTTPClient.longest >> 20) MB"
        case .cutShort: "it closed the connection"
        case .notHTTP: "it does not speak HTTP"
        }
    }
}
