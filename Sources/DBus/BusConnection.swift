package import Essentials
package import RealTime

internal import Glibc

/// A connection to a bus of this machine, for one thread.
///
/// Nothing waits.
package final class BusConnection {
    /// To be polled for input.
    package let descriptor: Int32
    private var stream = BusStream()

    /// Connects to the system's bus, or to that which DBUS_SYSTEM_BUS_ADDRESS names.
    package convenience init(variable: (String) -> String?) throws(SystemCallError) {
        let text = variable("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket"
        guard let path = Self.path(in: text), let address = UnixAddress(path) else {
            throw SystemCallError(operation: "DBUS_SYSTEM_BUS_ADDRESS \(text)", code: EINVAL)
        }
        try self.init(address)
    }

    /// The path in a bus address, such as `unix:path=/run/bus,guid=0123`; of several addresses the first counts.
    static func path(in text: String) -> String? {
        guard let first = text.split(separator: ";").first, first.hasPrefix("unix:") else { return nil }
        let keys = first.dropFirst("unix:".count).split(separator: ",")
        return keys.first { $0.hasPrefix("path=") }.map { String($0.dropFirst("path=".count)) }
    }

    package init(_ address: UnixAddress) throws(SystemCallError) {
        let descriptor = try checked("socket") {
            socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        }
        self.descriptor = descriptor
        // From here on deinit closes it.
        try checked("connect to the system's bus") { address.withPointer { connect(descriptor, $0, $1) } }
        try send(BusStream.greeting)
    }

    deinit { close(descriptor) }

    package func send(_ messages: [BusMessage]) throws(SystemCallError) {
        for message in messages { try send(message.bytes) }
    }

    /// The kernel's buffer has room for more than we ever send; a bus that does not read is as good as gone.
    private func send(_ bytes: [UInt8]) throws(SystemCallError) {
        let sent = try checked("send to the system's bus") {
            Int32(clamping: Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)))
        }
        guard sent == bytes.count else { throw SystemCallError(operation: "send to the system's bus", code: EAGAIN) }
    }

    /// Takes what has come; call it when ``descriptor`` is readable.
    package func receive() throws(SystemCallError) -> [BusMessage] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = try checked("receive from the system's bus") {
            Int32(clamping: recv(descriptor, &buffer, buffer.count, 0))
        }
        guard count > 0 else { throw SystemCallError(operation: "receive from the system's bus", code: ECONNRESET) }
        do throws(MalformedMessage) {
            return try stream.take(buffer.prefix(Int(count)))
        } catch {
            throw SystemCallError(operation: "receive from the system's bus", code: EBADMSG)
        }
    }
}
