import DBus

/// Announces the panel by mDNS through Avahi; a value that takes and returns messages of D-Bus.
///
/// Avahi may be absent, start later or be restarted: the bus tells so. It takes a service only while it knows the name
/// of this machine, which may change when another machine has the same. Where two services have the same name, it
/// proposes another. See Avahi's D-Bus interface, `org.freedesktop.Avahi.Server` and `EntryGroup`.
struct PanelAnnouncement {
    /// The TCP port of the panel.
    let port: UInt16
    /// Where it is announced: where the panel can be reached.
    let interface: PanelAddress.Interface
    /// The name under which browsers show the panel; nil until Avahi has confirmed it to be unique.
    private(set) var announcedName: String?

    private var serial: UInt32 = 0
    /// The call whose answer is waited for; answers to any other are too late.
    private var pending: (step: Step, serial: UInt32)?
    private var name = ""
    private var group: String?

    private enum Step {
        case state, hostName, group, add, commit, alternative
    }

    private static let avahi = "org.freedesktop.Avahi"
    private static let server = "org.freedesktop.Avahi.Server"
    private static let entryGroup = "org.freedesktop.Avahi.EntryGroup"
    private static let bus = "org.freedesktop.DBus"
    /// Avahi's numbers for states: of its server, and of a group of services.
    private static let running: Int32 = 2
    private static let established: Int32 = 2
    private static let collision: Int32 = 3
    private static let any: Int32 = -1

    init(port: UInt16, on interface: PanelAddress.Interface) {
        self.port = port
        self.interface = interface
    }

    /// What to send on a new connection.
    mutating func connected() -> [BusMessage] {
        self = PanelAnnouncement(port: port, on: interface)
        let rules = [
            "type='signal',sender='\(Self.bus)',member='NameOwnerChanged',arg0='\(Self.avahi)'",
            "type='signal',sender='\(Self.avahi)',member='StateChanged'",
        ]
        return rules.map { message("AddMatch", of: Self.bus, [.string($0)]) } + ask(.state)
    }

    /// What to send after a message has come.
    mutating func receive(_ message: BusMessage) -> [BusMessage] {
        switch message.kind {
        case .call: return []
        case .reply, .error:
            guard let pending, message.replyTo == pending.serial else { return [] }
            self.pending = nil
            return message.kind == .reply ? answered(pending.step, message.body) : refused(pending.step, message)
        case .signal: return signalled(message)
        }
    }

    private mutating func answered(_ step: Step, _ body: [BusValue]) -> [BusMessage] {
        switch (step, body.first) {
        case (.state, .int32(Self.running)): return ask(.hostName)
        case (.hostName, .string(let host)):
            name = "Tactus on \(host)"
            return ask(.group)
        case (.group, .objectPath(let path)):
            group = path
            return ask(.add)
        case (.add, _): return ask(.commit)
        case (.alternative, .string(let other)):
            name = other
            return ask(.add)
        default: return []
        }
    }

    private mutating func refused(_ step: Step, _ message: BusMessage) -> [BusMessage] {
        step == .add && message.errorName == "\(Self.avahi).CollisionError" ? ask(.alternative) : []
    }

    private mutating func signalled(_ message: BusMessage) -> [BusMessage] {
        let body = message.body
        if message.isSignal("NameOwnerChanged", of: Self.bus) {
            guard body.count == 3, body[0].text == Self.avahi else { return [] }
            forget()
            return body[2].text == "" ? [] : ask(.state)
        }
        guard case .int32(let state)? = body.first else { return [] }
        if message.isSignal("StateChanged", of: Self.server) {
            // What it announced before, it does no longer.
            let old = group.map { [self.message("Free", of: Self.entryGroup, at: $0)] } ?? []
            forget()
            return old + (state == Self.running ? ask(.hostName) : [])
        }
        if message.isSignal("StateChanged", of: Self.entryGroup), let group, message.path == group {
            announcedName = state == Self.established ? name : nil
            if state == Self.collision {
                return [self.message("Reset", of: Self.entryGroup, at: group)] + ask(.alternative)
            }
        }
        return []
    }

    private mutating func forget() {
        (group, announcedName, pending) = (nil, nil, nil)
    }

    private mutating func ask(_ step: Step) -> [BusMessage] {
        let call =
            switch step {
            case .state: message("GetState", of: Self.server)
            case .hostName: message("GetHostName", of: Self.server)
            case .group: message("EntryGroupNew", of: Self.server)
            case .add: message("AddService", of: Self.entryGroup, at: group ?? "/", service)
            case .commit: message("Commit", of: Self.entryGroup, at: group ?? "/")
            case .alternative: message("GetAlternativeServiceName", of: Self.server, [.string(name)])
            }
        pending = (step, call.serial)
        return [call]
    }

    /// By every protocol, without flags; for this machine, in the usual domain.
    private var service: [BusValue] {
        let number: Int32 = if case .one(let number) = interface { Int32(truncatingIfNeeded: number) } else { Self.any }
        return [
            .int32(number), .int32(Self.any), .uint32(0), .string(name), .string("_http._tcp"), .string(""),
            .string(""), .uint16(port), .byteStrings(["path=/"]),
        ]
    }

    private mutating func message(
        _ member: String, of interface: String, at path: String? = nil, _ body: [BusValue] = []
    ) -> BusMessage {
        serial += 1
        let isBus = interface == Self.bus
        return .call(
            member, of: interface, at: path ?? (isBus ? "/org/freedesktop/DBus" : "/"),
            to: isBus ? Self.bus : Self.avahi, serial: serial, body)
    }
}
