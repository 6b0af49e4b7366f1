internal import CSystemd
package import Glibc
package import RealTime

/// A connection to the system's bus, for one thread; libsystemd speaks its protocol.
///
/// Nothing waits, but the first connection has libsystemd loaded from the disk.
package final class BusConnection {
    private let systemd: csystemd
    private let bus: OpaquePointer
    /// The serials of calls that are not answered yet, by libsystemd's own numbers of them.
    private var serials: [UInt64: UInt32] = [:]

    nonisolated(unsafe) private static let library = csystemd_load()

    /// Connects to the system's bus, or to that which DBUS_SYSTEM_BUS_ADDRESS names.
    ///
    /// - Throws: ELIBACC if libsystemd is not installed; what failed, if the bus cannot be reached.
    package init() throws(SystemCallError) {
        guard let library = Self.library else { throw SystemCallError(operation: "libsystemd.so.0", code: ELIBACC) }
        systemd = library.pointee
        bus = try opened("connect to the system's bus", systemd.bus_open_system)
    }

    deinit { _ = systemd.bus_close_unref(bus) }

    /// To be polled: what the connection waits for at the moment.
    package var awaited: pollfd {
        pollfd(fd: systemd.bus_get_fd(bus), events: Int16(clamping: max(0, systemd.bus_get_events(bus))), revents: 0)
    }

    /// Sends calls, or has ``receive()`` send them as soon as the bus takes them.
    ///
    /// - Throws: what failed, such as a connection that has ended, or a string that D-Bus does not allow.
    package func send(_ calls: [BusMessage]) throws(SystemCallError) {
        let operation = "send to the system's bus"
        for call in calls {
            let message = try opened(operation) {
                systemd.bus_message_new_method_call(bus, $0, call.destination, call.path, call.interface, call.member)
            }
            defer { _ = systemd.bus_message_unref(message) }
            try succeeded(operation, systemd.bus_message_set_auto_start(message, call.startsService ? 1 : 0))
            for value in call.body { try succeeded(operation, systemd.append(value, to: message)) }
            var number: UInt64 = 0
            try succeeded(operation, systemd.bus_send(bus, message, &number))
            serials[number] = call.serial
        }
    }

    /// Takes what has come; call it when ``awaited`` is ready.
    ///
    /// - Throws: what failed, such as a connection that has ended.
    package func receive() throws(SystemCallError) -> [BusMessage] {
        var messages: [BusMessage] = []
        while true {
            var message: OpaquePointer?
            let result = systemd.bus_process(bus, &message)
            guard try succeeded("receive from the system's bus", result) > 0 else { return messages }
            guard let message else { continue }
            defer { _ = systemd.bus_message_unref(message) }
            if let received = received(message) { messages.append(received) }
        }
    }

    private func received(_ message: OpaquePointer) -> BusMessage? {
        var number: UInt8 = 0
        guard systemd.bus_message_get_type(message, &number) >= 0, let kind = BusMessage.Kind(rawValue: number) else {
            return nil
        }
        var received = BusMessage(kind: kind)
        var call: UInt64 = 0
        if systemd.bus_message_get_reply_cookie(message, &call) >= 0 {
            received.replyTo = serials.removeValue(forKey: call)
        }
        received.path = systemd.bus_message_get_path(message).map { String(cString: $0) }
        received.interface = systemd.bus_message_get_interface(message).map { String(cString: $0) }
        received.member = systemd.bus_message_get_member(message).map { String(cString: $0) }
        received.errorName = systemd.bus_message_get_error(message)?.pointee.map { String(cString: $0) }
        while let value = systemd.nextValue(of: message) { received.body.append(value) }
        return received
    }
}

/// What a function of libsystemd puts into its last argument.
private func opened(
    _ operation: String, _ function: (UnsafeMutablePointer<OpaquePointer?>) -> Int32
) throws(SystemCallError) -> OpaquePointer {
    var object: OpaquePointer?
    try succeeded(operation, function(&object))
    guard let object else { throw SystemCallError(operation: operation, code: ENOMEM) }
    return object
}

/// The result of a function of libsystemd.
@discardableResult
private func succeeded(_ operation: String, _ result: Int32) throws(SystemCallError) -> Int32 {
    guard result >= 0 else { throw SystemCallError(operation: operation, code: -result) }
    return result
}
