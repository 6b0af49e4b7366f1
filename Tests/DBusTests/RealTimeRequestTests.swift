import Testing

@testable import DBus

/// The request in a conversation with a bus and an rtkit that the test plays.
@Suite
struct RealTimeRequestTests {
    private var request = RealTimeRequest(process: 12, thread: 34, priority: 80)
    private var effects: [RealTimeRequest.Effect] = []

    private var sent: [BusMessage] { effects.compactMap { if case .send(let message) = $0 { message } else { nil } } }

    init() {
        effects = request.connected()
    }

    private mutating func answer(_ call: BusMessage, _ body: [BusValue]) {
        var reply = BusMessage(kind: .reply)
        reply.replyTo = call.serial
        reply.body = body
        effects = request.receive(reply)
    }

    private mutating func refuse(_ call: BusMessage, _ error: String, _ text: String) {
        var reply = BusMessage(kind: .error)
        reply.replyTo = call.serial
        reply.errorName = error
        reply.body = [.string(text)]
        effects = request.receive(reply)
    }

    /// Names rtkit's terms.
    private mutating func nameTerms(priority: Int32, microseconds: Int64) {
        let calls = sent
        answer(calls[0], [.int32(priority)])
        #expect(effects.isEmpty, "one term is not enough")
        answer(calls[1], [.int64(microseconds)])
    }

    @Test
    func `it asks for the terms first, of an rtkit that the bus may have to start`() {
        #expect(sent.map(\.member) == ["Get", "Get"])
        let kit = "org.freedesktop.RealtimeKit1"
        #expect(sent[0].body == [.string(kit), .string("MaxRealtimePriority")])
        #expect(sent[1].body == [.string(kit), .string("RTTimeUSecMax")])
        #expect(sent[0].destination == kit && sent[0].path == "/org/freedesktop/RealtimeKit1")
        #expect(sent.allSatisfy { $0.startsService })
    }

    @Test
    mutating func `it sets the limit before it asks for the thread, with the highest priority allowed`() throws {
        nameTerms(priority: 20, microseconds: 200_000)
        #expect(effects.first == .limit(microseconds: 200_000))
        let call = try #require(sent.first)
        #expect(effects.count == 2 && call.member == "MakeThreadRealtimeWithPID")
        #expect(call.body == [.uint64(12), .uint64(34), .uint32(20)])
        answer(call, [])
        #expect(effects == [.end(.granted(priority: 20))])
    }

    @Test
    mutating func `it asks for no more than is wanted`() {
        request = RealTimeRequest(process: 12, thread: 34, priority: 5)
        effects = request.connected()
        nameTerms(priority: 20, microseconds: 200_000)
        #expect(sent.first?.body.last == .uint32(5))
    }

    @Test
    mutating func `terms that allow nothing end it`() {
        nameTerms(priority: 0, microseconds: 200_000)
        #expect(effects == [.end(.refused("rtkit grants no real-time priority"))])
    }

    @Test
    mutating func `a term of an unknown kind ends it`() {
        answer(sent[0], [.string("many")])
        #expect(effects == [.end(.refused("rtkit does not state its limits"))])
    }

    @Test(arguments: [
        ("org.freedesktop.DBus.Error.ServiceUnknown", "", "rtkit is not installed"),
        (
            "org.freedesktop.DBus.Error.AccessDenied", "Operation not permitted",
            "rtkit grants it only to the user at this computer's screen, and to nobody for five minutes after real-time "
                + "programs have kept all processors busy"
        ),
        (
            "org.freedesktop.DBus.Error.AccessDenied", "Device or resource busy",
            "rtkit grants it to no more programs or threads of this user at present"
        ),
        ("org.freedesktop.DBus.Error.Failed", "too many threads", "rtkit: too many threads"),
    ])
    mutating func `a refusal is told in words`(error: String, text: String, expected: String) {
        refuse(sent[0], error, text)
        #expect(effects == [.end(.refused(expected))])
    }

    @Test
    mutating func `messages that answer nothing change nothing`() {
        let calls = sent
        var signal = BusMessage(kind: .signal)
        signal.member = "NameAcquired"
        #expect(request.receive(signal) == [])
        answer(calls[0], [.int32(20)])
        answer(calls[0], [.int32(99)])
        #expect(effects == [])
        answer(calls[1], [.int64(200_000)])
        #expect(sent.first?.body.last == .uint32(20))
    }
}
