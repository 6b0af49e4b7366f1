import Testing

@testable import Gateway

@Suite
struct MailboxTests {
    @Test
    func `a sender that leaves room cannot crowd others out, and learns of every loss`() throws {
        let mailbox = try Mailbox<Int>(capacity: 8)
        let posted = (0..<20).filter { mailbox.post($0, leaving: 5) }
        #expect(posted == [0, 1, 2])
        #expect((20..<25).allSatisfy { mailbox.post($0) })
        #expect(!mailbox.post(25))
        mailbox.postAnswer(30)
        var (events, isMissingSome) = mailbox.takeAll()
        #expect(events == [0, 1, 2, 20, 21, 22, 23, 24, 30])
        #expect(isMissingSome)
        #expect((0..<10).contains { !mailbox.post($0, leaving: 5) })
        (_, isMissingSome) = mailbox.takeAll()
        #expect(!isMissingSome, "a flood is no reason to look after what others may have lost")
        #expect(mailbox.post(26, leaving: 5))
    }
}
