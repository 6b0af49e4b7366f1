internal import DBus

/// The names of the device reservation protocol.
enum Reservation {
    static let interface = "org.freedesktop.ReserveDevice1"
    static let program = "ApplicationName"

    /// The bus name of a card, by ALSA's number of it.
    static func name(of card: Int) -> String { "\(interface).Audio\(card)" }
    static func path(of card: Int) -> String { "/org/freedesktop/ReserveDevice1/Audio\(card)" }

    /// What others may read of a reservation of ours.
    static func properties(of card: Int) -> [String: BusValue] {
        [
            "Priority": .int32(CardReservations.priority), program: .string("Tactus"),
            "ApplicationDeviceName": .string("hw:\(card)"),
        ]
    }

    /// What a program calls itself, fit to be shown: at most 40 characters; nil if nothing is left of it.
    static func shown(_ name: String) -> String? {
        let hidden: Set<Unicode.GeneralCategory> = [
            .control, .format, .lineSeparator, .paragraphSeparator, .unassigned,
        ]
        var shown = String.UnicodeScalarView()
        shown.append(
            contentsOf: name.unicodeScalars.lazy.filter { !hidden.contains($0.properties.generalCategory) }.prefix(40))
        let text = String(shown)
        return text.allSatisfy(\.isWhitespace) ? nil : text
    }
}

/// The bus itself, as the D-Bus specification describes it under "Message Bus Messages".
enum Bus {
    static let name = "org.freedesktop.DBus"
    static let path = "/org/freedesktop/DBus"
    static let properties = "org.freedesktop.DBus.Properties"
    /// Flags of RequestName.
    static let (allowsReplacement, replaces, doesNotQueue): (UInt32, UInt32, UInt32) = (1, 2, 4)

    enum Errors {
        static let object = "org.freedesktop.DBus.Error.UnknownObject"
        static let method = "org.freedesktop.DBus.Error.UnknownMethod"
        static let property = "org.freedesktop.DBus.Error.UnknownProperty"
        static let arguments = "org.freedesktop.DBus.Error.InvalidArgs"
    }
}

extension BusMessage {
    /// As an answer to RequestName: the name is ours now, or was already.
    var isGrantedName: Bool { kind == .reply && (body.first == .uint32(1) || body.first == .uint32(4)) }
    /// As an answer to RequestName: it has an owner.
    var isRefusedName: Bool { kind == .reply && body.first == .uint32(3) }
    /// As an answer to a call: nobody has the name any more, or not the one who was asked.
    var saysOwnerIsGone: Bool {
        let last = errorName?.split(separator: ".").last
        return kind == .error && (last == "ServiceUnknown" || last == "NameHasNoOwner" || last == "NoReply")
    }
}
