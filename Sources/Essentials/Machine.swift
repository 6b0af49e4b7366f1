package import Glibc

/// A variable of the environment; nil if it is not set.
package func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// The name of this machine.
package func hostName() -> String {
    var system = utsname()
    guard uname(&system) == 0 else { return "localhost" }
    return withUnsafeBytes(of: &system.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

/// A time as ISO 8601 in UTC, such as `2026-11-23T17:05:00.250Z`.
///
/// - Parameter milliseconds: since 1970.
/// - Returns: the text.
package func timestamp(_ milliseconds: Int64) -> String {
    var (seconds, parts) = (time_t(milliseconds / 1_000), tm())
    gmtime_r(&seconds, &parts)
    let date = [digits(parts.tm_year + 1900, 4), digits(parts.tm_mon + 1, 2), digits(parts.tm_mday, 2)]
    return "\(date.joined(separator: "-"))T\(timeOfDay(parts)).\(digits(milliseconds % 1_000, 3))Z"
}

/// A time of day, such as `17:05:00`.
package func timeOfDay(_ parts: tm) -> String {
    [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits($0, 2) }.joined(separator: ":")
}

/// Hour and minute in this machine's time zone, such as `17:05`.
///
/// - Parameter milliseconds: since 1970.
/// - Returns: the text.
package func hourAndMinute(_ milliseconds: Int64) -> String {
    var (seconds, parts) = (time_t(milliseconds / 1_000), tm())
    localtime_r(&seconds, &parts)
    return "\(digits(parts.tm_hour, 2)):\(digits(parts.tm_min, 2))"
}

/// Writes a text to a descriptor and waits while it is full.
///
/// - Returns: false if the rest was refused, as by a closed pipe or a full disk.
@discardableResult
package func write(_ text: String, to descriptor: Int32) -> Bool {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
        let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        if count < 0, errno == EAGAIN {
            var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = poll(&ready, 1, 100)
            continue
        }
        guard count > 0 else { return false }
        bytes = bytes.dropFirst(count)
    }
    return true
}
