/// One value in a message; only the types that we send, and those that we want to read.
package indirect enum BusValue: Hashable, Sendable {
    case bool(Bool)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case string(String)
    case objectPath(String)
    /// A list of byte strings, such as the properties of a network service; never read.
    case byteStrings([String])
    /// A value of any type; never read.
    case variant(BusValue)
    /// Values by their names, such as all properties of an object; never read.
    case properties([String: BusValue])

    package var text: String? {
        switch self {
        case .string(let text), .objectPath(let text): text
        default: nil
        }
    }
}

/// A message of D-Bus: a call, its answer, or a signal.
package struct BusMessage: Hashable, Sendable {
    /// See the D-Bus specification, "Message Format", for the numbers.
    package enum Kind: UInt8, Sendable {
        case call = 1
        case reply = 2
        case error = 3
        case signal = 4
    }

    package var kind: Kind
    /// A call's number, by which its answer is known: its sender's own, or the connection's for a call that is received.
    package var serial: UInt32 = 0
    /// The number of the call that this answers.
    package var replyTo: UInt32?
    package var destination: String?
    /// Whose message it is, as the bus says; only read.
    package var sender: String?
    package var path: String?
    package var interface: String?
    package var member: String?
    /// What failed, such as `org.freedesktop.DBus.Error.ServiceUnknown`.
    package var errorName: String?
    /// The arguments; when read, those before the first of a type that is not a ``BusValue``.
    ///
    /// A variant, such as a property, is read as the value in it.
    package var body: [BusValue] = []
    /// Whether the bus may start the destination for this; not read.
    package var startsService = false

    package init(kind: Kind) { self.kind = kind }

    /// A call that starts no service: what is not running is not wanted.
    package static func call(
        _ member: String, of interface: String, at path: String, to destination: String, serial: UInt32,
        _ body: [BusValue] = []
    ) -> BusMessage {
        var message = BusMessage(kind: .call)
        message.serial = serial
        message.member = member
        message.interface = interface
        message.path = path
        message.destination = destination
        message.body = body
        return message
    }

    /// The answer to a call that has been received.
    package static func reply(to call: BusMessage, _ body: [BusValue] = []) -> BusMessage {
        var message = BusMessage(kind: .reply)
        message.replyTo = call.serial
        message.body = body
        return message
    }

    /// The refusal of a call that has been received.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - name: what D-Bus calls the error, such as `org.freedesktop.DBus.Error.UnknownMethod`.
    ///   - text: the error for people.
    /// - Returns: the message to send.
    package static func refusal(of call: BusMessage, _ name: String, _ text: String) -> BusMessage {
        var message = BusMessage(kind: .error)
        message.replyTo = call.serial
        message.errorName = name
        message.body = [.string(text)]
        return message
    }

    package func isSignal(_ member: String, of interface: String) -> Bool {
        kind == .signal && self.member == member && self.interface == interface
    }
}
