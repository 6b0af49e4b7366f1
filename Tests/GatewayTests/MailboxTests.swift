import Testing

@testable import Gateway

@Suite
struct MailboxTests {
    @Test
    func `who leaves room for others cannot crowd them out, and is told of every loss`() throws {
        let mailbox = try Mailbox<Int>(capacity: 8)
        let posted = (0..<20).filter { mailbox.post($0, leaving: 5) }
        #expect(posted == [0, 1, 2])
        #expect(!mailbox.takeOverflow(), "a flood is no reason to look after what others may have lost")
        #expect((20..<25).allSatisfy { mailbox.post($0) })
        #expect(!mailbox.post(25))
        #expect(mailbox.takeOverflow())
        #expect(mailbox.takeAll() == [0, 1, 2, 20, 21, 22, 23, 24])
        #expect(mailbox.post(26, leaving: 5))
    }
}
