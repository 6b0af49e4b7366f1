import DBus
import Testing

@testable import tactus

/// The announcement in a conversation with an Avahi that the test plays.
@Suite
struct PanelAnnouncementTests {
    private var announcement = PanelAnnouncement(port: 8_808, on: .all)
    private var sent: [BusMessage] = []

    private var calls: [String?] { sent.map(\.member) }

    /// Answers the last call.
    private mutating func answer(_ body: [BusValue] = []) {
        var reply = BusMessage(kind: .reply)
        reply.replyTo = sent.last?.serial
        reply.body = body
        sent = announcement.receive(reply)
    }

    private mutating func refuse(_ error: String) {
        var reply = BusMessage(kind: .error)
        reply.replyTo = sent.last?.serial
        reply.errorName = error
        sent = announcement.receive(reply)
    }

    private mutating func signal(_ member: String, of interface: String, at path: String = "/", _ body: [BusValue]) {
        var signal = BusMessage(kind: .signal)
        (signal.member, signal.interface, signal.path, signal.body) = (member, interface, path, body)
        sent = announcement.receive(signal)
    }

    private mutating func serverIs(_ state: Int32) {
        signal("StateChanged", of: "org.freedesktop.Avahi.Server", [.int32(state), .string("")])
    }

    private mutating func groupIs(_ state: Int32, at path: String = "/Group1") {
        signal("StateChanged", of: "org.freedesktop.Avahi.EntryGroup", at: path, [.int32(state), .string("")])
    }

    private mutating func owner(_ old: String, _ new: String, of name: String = "org.freedesktop.Avahi") {
        signal("NameOwnerChanged", of: "org.freedesktop.DBus", [.string(name), .string(old), .string(new)])
    }

    /// The name in the call that adds the service.
    private var added: BusValue? { sent.last?.member == "AddService" ? sent.last?.body[3] : nil }

    /// From the host's name until Avahi has announced the service.
    private mutating func beAnnounced(host: String = "box", group: String = "/Group1") {
        #expect(calls.last == "GetHostName")
        answer([.string(host)])
        #expect(calls == ["EntryGroupNew"])
        answer([.objectPath(group)])
        #expect(added == .string("Tactus on \(host)"))
        answer()
        #expect(calls == ["Commit"] && sent[0].path == group)
        answer()
        groupIs(2, at: group)
        #expect(announcement.announcedName == "Tactus on \(host)")
    }

    private mutating func start() {
        sent = announcement.connected()
        #expect(calls == ["AddMatch", "AddMatch", "GetState"])
        answer([.int32(2)])
        beAnnounced()
    }

    @Test
    mutating func `a running Avahi is told name, type and port`() {
        sent = announcement.connected()
        answer([.int32(2)])
        answer([.string("box")])
        answer([.objectPath("/Group1")])
        #expect(sent.count == 1 && sent[0].path == "/Group1" && sent[0].destination == "org.freedesktop.Avahi")
        #expect(
            sent[0].body == [
                .int32(-1), .int32(-1), .uint32(0), .string("Tactus on box"), .string("_http._tcp"), .string(""),
                .string(""), .uint16(8_808), .byteStrings(["path=/"]),
            ])
        #expect(announcement.announcedName == nil)
    }

    @Test
    mutating func `a panel with one address is announced on the interface that has it`() {
        announcement = PanelAnnouncement(port: 8_808, on: .one(7))
        for _ in 0..<2 {  // the second time after a new connection
            sent = announcement.connected()
            answer([.int32(2)])
            answer([.string("box")])
            answer([.objectPath("/Group1")])
            #expect(sent[0].body.prefix(2) == [.int32(7), .int32(-1)])
        }
    }

    @Test
    mutating func `an Avahi that comes later is told then, and one that is restarted again`() {
        sent = announcement.connected()
        refuse("org.freedesktop.DBus.Error.ServiceUnknown")
        #expect(sent.isEmpty)
        owner("", ":1.9")
        #expect(calls == ["GetState"])
        answer([.int32(1)])
        #expect(sent.isEmpty, "it does not yet know its own name")
        serverIs(2)
        beAnnounced()
        owner(":1.9", "")
        #expect(sent.isEmpty && announcement.announcedName == nil)
        owner("", ":1.10")
        answer([.int32(2)])
        beAnnounced(group: "/Group7")
    }

    @Test
    mutating func `a name that is taken on this machine is changed as Avahi proposes`() {
        sent = announcement.connected()
        answer([.int32(2)])
        answer([.string("box")])
        answer([.objectPath("/Group1")])
        refuse("org.freedesktop.Avahi.CollisionError")
        #expect(calls == ["GetAlternativeServiceName"] && sent[0].body == [.string("Tactus on box")])
        answer([.string("Tactus on box #2")])
        #expect(added == .string("Tactus on box #2"))
        answer()
        groupIs(2)
        #expect(announcement.announcedName == "Tactus on box #2")
    }

    @Test
    mutating func `a name that another machine has is changed when that is found`() {
        start()
        groupIs(3)
        #expect(calls == ["Reset", "GetAlternativeServiceName"] && announcement.announcedName == nil)
        answer([.string("Tactus on box #2")])
        #expect(added == .string("Tactus on box #2"))
    }

    @Test
    mutating func `a machine that gets another name is announced by that`() {
        start()
        serverIs(3)
        #expect(calls == ["Free"] && sent[0].path == "/Group1" && announcement.announcedName == nil)
        serverIs(2)
        beAnnounced(host: "box-2", group: "/Group2")
    }

    @Test
    mutating func `answers that come too late and the affairs of others change nothing`() {
        sent = announcement.connected()
        let state = sent
        serverIs(2)
        #expect(calls == ["GetHostName"])
        let asked = sent
        sent = state
        answer([.int32(2)])
        #expect(sent.isEmpty, "the state has been told by a signal")
        sent = asked
        beAnnounced()
        groupIs(3, at: "/Group9")
        owner(":1.2", "", of: "org.example.Other")
        #expect(sent.isEmpty && announcement.announcedName == "Tactus on box")
    }

    @Test
    mutating func `a refusal ends in silence, until Avahi changes`() {
        sent = announcement.connected()
        answer([.int32(2)])
        answer([.string("box")])
        refuse("org.freedesktop.Avahi.TooManyGroupsError")
        #expect(sent.isEmpty)
        serverIs(2)
        beAnnounced()
    }
}
