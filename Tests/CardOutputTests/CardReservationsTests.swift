import DBus
import RealTime
import Testing

@testable import CardOutput

/// Reservations of card 2 in a conversation with a bus and programs that the test plays, in virtual time.
@Suite
struct CardReservationsTests {
    private static let name = "org.freedesktop.ReserveDevice1.Audio2"
    private static let path = "/org/freedesktop/ReserveDevice1/Audio2"
    private static let interface = "org.freedesktop.ReserveDevice1"
    private static let properties = "org.freedesktop.DBus.Properties"
    private static let (allowReplacement, replace, doNotQueue): (UInt32, UInt32, UInt32) = (1, 2, 4)

    private var reservations = CardReservations()
    private var now = MonotonicTime(nanoseconds: 7_000_000_000)
    private var sent: [BusMessage] = []
    private var callCount: UInt32 = 0

    private var standing: CardReservations.Standing { reservations.standing(of: 2) }

    init() { sent = reservations.take([2: false], at: now) }

    private mutating func want(_ cards: [Int: Bool]) { sent = reservations.take(cards, at: now) }

    private mutating func pass(seconds: Double) {
        now = now.advanced(byNanoseconds: Int64(seconds * 1e9))
        sent = reservations.timePassed(to: now)
    }

    private mutating func receive(_ message: BusMessage) { sent = reservations.receive(message, at: now) }

    private mutating func answer(_ call: BusMessage?, _ body: BusValue...) throws {
        var reply = BusMessage(kind: .reply)
        reply.replyTo = try #require(call).serial
        reply.body = body
        receive(reply)
    }

    private mutating func refuse(_ call: BusMessage?, _ error: String) throws {
        var reply = BusMessage(kind: .error)
        reply.replyTo = try #require(call).serial
        reply.errorName = "org.freedesktop.DBus.Error.\(error)"
        receive(reply)
    }

    /// A call from the program `:1.7`; numbers of calls differ.
    private mutating func call(
        _ member: String, of interface: String? = CardReservationsTests.interface,
        at path: String? = CardReservationsTests.path, _ body: BusValue...
    ) -> BusMessage {
        callCount += 1
        var call = BusMessage(kind: .call)
        (call.serial, call.sender, call.path) = (callCount, ":1.7", path)
        (call.interface, call.member, call.body) = (interface, member, body)
        receive(call)
        return call
    }

    private mutating func lose(sender: String = "org.freedesktop.DBus") {
        var signal = BusMessage(kind: .signal)
        (signal.sender, signal.interface, signal.member) = (sender, "org.freedesktop.DBus", "NameLost")
        signal.body = [.string(Self.name)]
        receive(signal)
    }

    /// Has the owner asked to let go, after it has said what it is called.
    private mutating func meetOwner(_ program: String = "PipeWire") throws -> BusMessage {
        try answer(sent.first, .uint32(3))
        let calls = sent
        try #require(calls.map(\.member) == ["Get", "RequestRelease"])
        try answer(calls[0], .string(program))
        return calls[1]
    }

    private mutating func own(open: Bool) throws {
        try answer(sent.first, .uint32(1))
        want([2: open])
    }

    private func held(_ program: String?, _ manner: CardHolder.Manner) -> CardReservations.Standing {
        .held(CardHolder(program: program, manner: manner))
    }

    @Test
    mutating func `a card that nobody has is ours at once, and others may ask for it`() throws {
        #expect(standing == .asking)
        let call = try #require(sent.first)
        #expect(sent.count == 1 && call.member == "RequestName" && call.destination == "org.freedesktop.DBus")
        #expect(call.body == [.string(Self.name), .uint32(Self.allowReplacement | Self.doNotQueue)])
        try answer(call, .uint32(1))
        #expect(standing == .granted && sent.isEmpty && reservations.nextDeadline == nil)
        #expect(reservations.standing(of: 3) == .asking, "another card is another matter")
    }

    @Test
    mutating func `a sound server is asked to let go, and its name is taken when it has`() throws {
        let release = try meetOwner()
        #expect(release.destination == Self.name && release.path == Self.path && release.interface == Self.interface)
        #expect(release.body == [.int32(20)] && !release.startsService)
        #expect(standing == .asking, "it has not let go yet")
        try answer(release, .bool(true))
        let flags = Self.allowReplacement | Self.doNotQueue | Self.replace
        #expect(sent.map(\.body) == [[.string(Self.name), .uint32(flags)]])
        try answer(sent.first, .uint32(1))
        #expect(standing == .granted)
    }

    @Test
    mutating func `whoever refuses is named, and asked again after five seconds`() throws {
        try answer(meetOwner("JACK\u{1B}[2J\u{202E}"), .bool(false))
        #expect(standing == held("JACK[2J", .refuses), "a name cannot control a terminal")
        pass(seconds: 4.9)
        #expect(sent.isEmpty && standing == held("JACK[2J", .refuses))
        pass(seconds: 0.2)
        #expect(sent.map(\.member) == ["RequestName"])
        try answer(sent.first, .uint32(1))
        #expect(standing == .granted)
    }

    @Test(arguments: ["ServiceUnknown", "NameHasNoOwner", "NoReply"])
    mutating func `an owner that is gone meanwhile is in nobody's way`(error: String) throws {
        try refuse(meetOwner(), error)
        #expect(sent.map(\.body) == [[.string(Self.name), .uint32(Self.allowReplacement | Self.doNotQueue)]])
        try answer(sent.first, .uint32(1))
        #expect(standing == .granted)
    }

    @Test
    mutating func `another that was quicker has the card`() throws {
        try refuse(meetOwner(), "NameHasNoOwner")
        try answer(sent.first, .uint32(3))
        #expect(standing == held("PipeWire", .refuses) && sent.isEmpty)
    }

    @Test
    mutating func `an owner that does not know the request does not let go`() throws {
        try refuse(meetOwner(), "UnknownMethod")
        #expect(standing == held("PipeWire", .refuses))
    }

    @Test
    mutating func `an owner that is silent is waited for a second, and may answer late`() throws {
        let release = try meetOwner()
        pass(seconds: 0.9)
        #expect(standing == .asking)
        pass(seconds: 0.1)
        #expect(standing == held("PipeWire", .isSilent) && sent.isEmpty)
        pass(seconds: 4)
        try answer(release, .bool(true))
        try answer(sent.first, .uint32(1))
        #expect(standing == .granted)
    }

    @Test
    mutating func `an owner that stays silent is asked again every five seconds, and its last answer counts`() throws {
        let first = try meetOwner()
        pass(seconds: 1)
        for _ in 0..<100 {
            pass(seconds: 4.9)
            #expect(sent.isEmpty && standing == held("PipeWire", .isSilent))
            pass(seconds: 0.1)
            #expect(sent.map(\.member) == ["RequestName"])
            try answer(sent.first, .uint32(3))
            #expect(sent.map(\.member) == ["Get", "RequestRelease"])
            pass(seconds: 1)
            #expect(sent.isEmpty && standing == held("PipeWire", .isSilent))
        }
        pass(seconds: 5)
        try answer(first, .bool(true))
        #expect(sent.isEmpty, "whoever is the owner now has been asked since")
        pass(seconds: 1)
        #expect(standing == .granted, "now the bus is silent")
    }

    @Test
    mutating func `the end of an owner that is silent makes the card free`() throws {
        _ = try meetOwner()
        pass(seconds: 1)
        pass(seconds: 5)
        try answer(sent.first, .uint32(1))
        #expect(standing == .granted)
    }

    @Test
    mutating func `a bus that is silent, or refuses, keeps nobody from a card`() throws {
        let call = sent.first
        pass(seconds: 1)
        #expect(standing == .granted)
        // Late, and the card could not be opened.
        try answer(call, .uint32(3))
        #expect(standing == .asking && sent.last?.member == "RequestRelease")
        want([:])
        want([2: false])
        try refuse(sent.first, "AccessDenied")
        #expect(standing == .granted)
    }

    @Test
    mutating func `a card that was opened without the bus stays open, and its owner is asked for the name`() throws {
        let call = sent.first
        pass(seconds: 1)
        want([2: true])
        try answer(call, .uint32(3))
        #expect(standing == .asking && sent.map(\.member) == ["Get", "RequestRelease"])
        try answer(sent.last, .bool(true))
        try answer(sent.first, .uint32(1))
        #expect(standing == .granted && reservations.nextDeadline == nil)
        _ = self.call("RequestRelease", .int32(.max))
        #expect(standing == held(nil, .hasAsked), "it can be asked for now")
    }

    @Test
    mutating func `a card that is open plays on while its owner refuses, and is asked for again, also once closed`()
        throws
    {
        let ask = sent
        want([2: true])
        sent = ask
        try answer(meetOwner(), .bool(false))
        for _ in 0..<100 {
            #expect(standing == .granted && sent.isEmpty)
            pass(seconds: 4.9)
            #expect(sent.isEmpty)
            pass(seconds: 0.1)
            #expect(sent.map(\.member) == ["RequestName"])
            _ = try meetOwner()
            pass(seconds: 1)  // it does not even answer
        }
        want([2: false])
        pass(seconds: 5)
        try answer(meetOwner(), .bool(false))
        #expect(standing == held("PipeWire", .refuses))
    }

    @Test
    mutating func `a card whose name the bus does not give is used, and its name asked for again`() throws {
        try refuse(sent.first, "AccessDenied")
        pass(seconds: 5)
        #expect(sent.map(\.member) == ["RequestName"])
        pass(seconds: 1)
        #expect(standing == .granted, "now it is silent")
        pass(seconds: 5)
        try answer(sent.first, .uint32(1))
        #expect(standing == .granted && reservations.nextDeadline == nil)
    }

    @Test
    mutating func `a request with a higher priority is answered when the card is closed, and the card asked for later`()
        throws
    {
        try own(open: true)
        let request = call("RequestRelease", .int32(.max))
        let question = try #require(sent.first)
        #expect(sent.count == 1 && question.member == "Get" && question.destination == ":1.7", "who is it?")
        #expect(standing == held(nil, .hasAsked))
        let other = call("RequestRelease", .int32(.max))
        #expect(sent == [.reply(to: other, [.bool(false)])], "one at a time")
        want([2: true])
        #expect(sent.isEmpty, "it is still open")
        want([2: false])
        #expect(sent.first == .reply(to: request, [.bool(true)]))
        #expect(sent.count == 2 && sent.last?.member == "ReleaseName" && sent.last?.body == [.string(Self.name)])
        lose()
        // Who waits for an answer gives none, so its name comes late.
        try answer(question, .string("JACK"))
        #expect(standing == held("JACK", .hasAsked) && sent.isEmpty)
        pass(seconds: 4.9)
        #expect(sent.isEmpty, "it does not fight for the card")
        pass(seconds: 0.1)
        try answer(meetOwner("JACK"), .bool(false))
        #expect(standing == held("JACK", .refuses))
    }

    @Test(arguments: [Int32.min, -20, 0, 20])
    mutating func `a request with no higher priority is refused`(priority: Int32) throws {
        try own(open: true)
        let request = call("RequestRelease", .int32(priority))
        #expect(sent == [.reply(to: request, [.bool(false)])] && standing == .granted)
    }

    @Test
    mutating func `a card that is not open yet is let go of at once`() throws {
        try own(open: false)
        let request = call("RequestRelease", .int32(21))
        #expect(sent.contains(.reply(to: request, [.bool(true)])) && sent.last?.member == "ReleaseName")
        #expect(standing == held(nil, .hasAsked))
    }

    @Test
    mutating func `a name that is taken away takes the card with it`() throws {
        try own(open: true)
        lose(sender: ":1.7")
        #expect(standing == .granted, "only the bus can say that")
        lose()
        #expect(sent.map(\.destination) == [Self.name], "its new owner is asked what it is called")
        try answer(sent.first, .string("JACK"))
        #expect(standing == held("JACK", .hasAsked))
        want([2: false])
        pass(seconds: 5)
        #expect(sent.map(\.member) == ["RequestName"])
    }

    @Test
    mutating func `a card that is not wanted any more is given back`() throws {
        try own(open: true)
        want([:])
        #expect(sent.map(\.member) == ["ReleaseName"] && sent.first?.body == [.string(Self.name)])
        #expect(reservations.nextDeadline == nil)
        lose()
        want([2: false])
        #expect(sent.map(\.member) == ["RequestName"] && standing == .asking)
    }

    @Test
    mutating func `whoever waits for the card learns that it is free when nobody wants it here any more`() throws {
        try own(open: true)
        let request = call("RequestRelease", .int32(.max))
        want([:])
        #expect(sent.first == .reply(to: request, [.bool(true)]) && sent.last?.member == "ReleaseName")
    }

    @Test
    mutating func `others can read who has the card`() throws {
        try own(open: true)
        let properties: [String: BusValue] = [
            "Priority": .int32(20), "ApplicationName": .string("Tactus"), "ApplicationDeviceName": .string("hw:2"),
        ]
        for (name, value) in properties {
            let get = call("Get", of: Self.properties, .string(Self.interface), .string(name))
            #expect(sent == [.reply(to: get, [.variant(value)])])
        }
        let all = call("GetAll", of: Self.properties, .string(Self.interface))
        #expect(sent == [.reply(to: all, [.properties(properties)])])
    }

    @Test
    mutating func `calls that mean nothing are refused, and other nonsense is ignored`() throws {
        try own(open: true)
        let calls: [(String, String?, String?, [BusValue])] = [
            ("RequestRelease", Self.interface, Self.path, []),
            ("RequestRelease", Self.interface, Self.path, [.string("2147483647")]),
            ("RequestRelease", Self.interface, "/org/freedesktop/ReserveDevice1/Audio02", [.int32(.max)]),
            ("RequestRelease", Self.interface, "/", [.int32(.max)]), ("", nil, nil, []),
            ("RequestRelease", "org.example", Self.path, [.int32(.max)]),
            ("Get", Self.properties, Self.path, []), ("Get", Self.properties, Self.path, [.string("Nothing")]),
            ("Set", Self.properties, Self.path, [.string(Self.interface), .string("Priority"), .int32(-1)]),
            ("Introspect", "org.freedesktop.DBus.Introspectable", Self.path, []),
        ]
        for (member, interface, path, body) in calls {
            var call = BusMessage(kind: .call)
            (call.serial, call.path, call.interface, call.member, call.body) = (9, path, interface, member, body)
            receive(call)
            #expect(sent.count == 1 && sent[0].kind == .error && sent[0].replyTo == 9, "\(call)")
        }
        for kind in [BusMessage.Kind.reply, .error, .signal] {
            for serial in [nil, 0, 1, UInt32.max] as [UInt32?] {
                var message = BusMessage(kind: kind)
                message.replyTo = serial
                receive(message)
                #expect(sent.isEmpty)
            }
        }
        #expect(standing == .granted)
    }

    @Test(arguments: [[], [BusValue.string("1")], [.uint32(0)], [.uint32(77)], [.int32(1)], [.bool(true)]])
    mutating func `an owner's answer that is none is a refusal, and a bus's is as none`(body: [BusValue]) throws {
        let ask = try #require(sent.first)
        var reply = BusMessage(kind: .reply)
        (reply.replyTo, reply.body) = (ask.serial, body)
        receive(reply)
        #expect(standing == .granted)
        want([:])
        want([2: false])
        let release = try meetOwner(" \n ")
        guard body != [.bool(true)] else { return }
        reply.replyTo = release.serial
        receive(reply)
        #expect(standing == held(nil, .refuses))
    }
}
