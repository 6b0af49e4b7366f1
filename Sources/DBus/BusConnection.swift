internal import CSystemd
package import Glibc
package import RealTime

/// A connection to a bus, for one thread; libsystemd speaks its protocol.
///
/// Nothing waits, but the first connection has libsystemd loaded from the disk.
package final class BusConnection {
    private let kind: Kind
    private let systemd: csystemd
    private let bus: OpaquePointer
    /// The serials of calls that are not answered yet, by libsystemd's own numbers of them.
    private var serials: [UInt64: UInt32] = [:]
    /// Calls of others that we have not answered yet, by the numbers that we gave them.
    private var calls: [UInt32: OpaquePointer] = [:]
    private var callCount: UInt32 = 0

    package enum Kind: Sendable {
        case system
        case session

        fileprivate var name: String { self == .system ? "the system's bus" : "the session's bus" }
    }

    /// Most calls whose answers are awaited: a program that never answers may be asked for days.
    private static let mostAwaited = 256
    /// Most calls of others that may wait for their answers, and the longest text in one, in bytes of UTF-8.
    private static let (mostCalls, longestText) = (16, 256)
    /// Most messages that are taken at a time; the bus stays ready while there are more.
    private static let mostMessages = 64

    nonisolated(unsafe) private static let library = csystemd_load()

    /// Connects to a bus, or to that which DBUS_SYSTEM_BUS_ADDRESS or DBUS_SESSION_BUS_ADDRESS names.
    ///
    /// - Throws: ELIBACC if libsystemd is not installed; what failed, if the bus cannot be reached.
    package init(to kind: Kind = .system) throws(SystemCallError) {
        guard let library = Self.library else { throw SystemCallError(operation: "libsystemd.so.0", code: ELIBACC) }
        self.kind = kind
        systemd = library.pointee
        bus = try opened(
            "connect to \(kind.name)", kind == .system ? systemd.bus_open_system : systemd.bus_open_user)
    }

    deinit {
        for call in calls.values { _ = systemd.bus_message_unref(call) }
        _ = systemd.bus_close_unref(bus)
    }

    /// To be polled: what the connection waits for at the moment.
    package var awaited: pollfd {
        pollfd(fd: systemd.bus_get_fd(bus), events: Int16(clamping: max(0, systemd.bus_get_events(bus))), revents: 0)
    }

    /// Sends calls and answers, or has ``receive()`` send them as soon as the bus takes them.
    ///
    /// - Throws: what failed, such as a connection that has ended, or a string that D-Bus does not allow.
    package func send(_ messages: [BusMessage]) throws(SystemCallError) {
        for message in messages {
            switch message.kind {
            case .call: try call(message)
            case .reply, .error: try answer(message)
            case .signal: break  // we have none to send
            }
        }
    }

    private var sending: String { "send to \(kind.name)" }

    private func call(_ call: BusMessage) throws(SystemCallError) {
        let message = try opened(sending) {
            systemd.bus_message_new_method_call(bus, $0, call.destination, call.path, call.interface, call.member)
        }
        defer { _ = systemd.bus_message_unref(message) }
        try succeeded(sending, systemd.bus_message_set_auto_start(message, call.startsService ? 1 : 0))
        var number: UInt64 = 0
        try send(message, call.body, &number)
        serials[number] = call.serial
        if serials.count > Self.mostAwaited, let oldest = serials.keys.min() { serials[oldest] = nil }
    }

    private func answer(_ answer: BusMessage) throws(SystemCallError) {
        guard let call = answer.replyTo.flatMap({ calls.removeValue(forKey: $0) }) else { return }
        defer { _ = systemd.bus_message_unref(call) }
        if answer.kind == .error {
            try refuse(call, answer.errorName ?? "org.freedesktop.DBus.Error.Failed", answer.body)
        } else {
            let message = try opened(sending) { systemd.bus_message_new_method_return(call, $0) }
            defer { _ = systemd.bus_message_unref(message) }
            try send(message, answer.body, nil)
        }
    }

    private func refuse(_ call: OpaquePointer, _ name: String, _ body: [BusValue]) throws(SystemCallError) {
        let message = try opened(sending) { target in
            name.withCString { name in
                var error = csystemd_error(name: name, message: nil, needs_free: 0)
                return systemd.bus_message_new_method_error(call, target, &error)
            }
        }
        defer { _ = systemd.bus_message_unref(message) }
        try send(message, body, nil)
    }

    private func send(
        _ message: OpaquePointer, _ body: [BusValue], _ number: UnsafeMutablePointer<UInt64>?
    ) throws(SystemCallError) {
        for value in body { try succeeded(sending, systemd.append(value, to: message)) }
        try succeeded(sending, systemd.bus_send(bus, message, number))
    }

    /// Takes what has come; call it when ``awaited`` is ready.
    ///
    /// Each call among it has a number that its answer needs. One that is not answered is kept.
    ///
    /// - Throws: what failed, such as a connection that has ended.
    package func receive() throws(SystemCallError) -> [BusMessage] {
        var messages: [BusMessage] = []
        for _ in 0..<Self.mostMessages {
            var message: OpaquePointer?
            let result = systemd.bus_process(bus, &message)
            guard try succeeded("receive from \(kind.name)", result) > 0 else { break }
            guard let message else { continue }
            defer { _ = systemd.bus_message_unref(message) }
            if let received = try received(message) { messages.append(received) }
        }
        return messages
    }

    private func received(_ message: OpaquePointer) throws(SystemCallError) -> BusMessage? {
        var number: UInt8 = 0
        guard systemd.bus_message_get_type(message, &number) >= 0, let kind = BusMessage.Kind(rawValue: number) else {
            return nil
        }
        var received = BusMessage(kind: kind)
        var call: UInt64 = 0
        if systemd.bus_message_get_reply_cookie(message, &call) >= 0 {
            received.replyTo = serials.removeValue(forKey: call)
        }
        received.sender = systemd.bus_message_get_sender(message).map { String(cString: $0) }
        received.path = systemd.bus_message_get_path(message).map { String(cString: $0) }
        received.interface = systemd.bus_message_get_interface(message).map { String(cString: $0) }
        received.member = systemd.bus_message_get_member(message).map { String(cString: $0) }
        received.errorName = systemd.bus_message_get_error(message)?.pointee.map { String(cString: $0) }
        while let value = systemd.nextValue(of: message) { received.body.append(value) }
        guard kind == .call else { return received }
        guard calls.count < Self.mostCalls, isSmall(received, message) else {
            try refuse(message, "org.freedesktop.DBus.Error.LimitsExceeded", [.string("too many calls, or too large")])
            return nil
        }
        callCount &+= 1
        received.serial = callCount
        calls[callCount] = systemd.bus_message_ref(message)
        return received
    }

    /// Whether a call takes so little memory that it may wait for its answer: all its values have been read.
    private func isSmall(_ call: BusMessage, _ message: OpaquePointer) -> Bool {
        guard let signature = systemd.bus_message_get_signature(message, 1),
            String(cString: signature).utf8.count == call.body.count
        else { return false }
        let texts = [call.path] + call.body.map(\.text)
        return texts.allSatisfy { ($0?.utf8.count ?? 0) <= Self.longestText }
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
