import NIOCore
import Testing

@testable import ControlServer

/// In virtual time.
@Suite
struct WrongTokensTests {
    private let token = BearerToken("correct-horse-battery")!  // one word
    private let start = ContinuousClock.now
    private var wrong = WrongTokens()

    private static func client(_ address: String) -> Client { Client(try? SocketAddress(ipAddress: address, port: 1)) }

    private static func client(_ number: Int) -> Client { client("10.1.\(number / 256).\(number % 256)") }

    private mutating func judge(
        _ word: String, from client: Client = Self.client("192.168.7.2"), after seconds: Double = 0
    ) -> WrongTokens.Verdict {
        wrong.judge("Bearer \(word)", from: client, by: token, at: start + .seconds(seconds)).verdict
    }

    @Test
    mutating func `an address may guess ten times at once, and then once a second`() {
        for number in 0..<10 { #expect(judge("guess\(number)") == .wrong) }
        #expect(judge("guess10") == .refused)
        var compared = 0
        for number in 0..<1_000 where judge("more\(number)", after: Double(number) / 100) == .wrong { compared += 1 }
        #expect(compared == 9)
    }

    @Test
    mutating func `the right token is not even compared for who guesses, and others are not slowed`() {
        for number in 0..<11 { _ = judge("guess\(number)") }
        #expect(judge("correct-horse-battery") == .refused)
        #expect(judge("correct-horse-battery", from: Self.client("192.168.7.3")) == .right)
        #expect(judge("correct-horse-battery", after: 1) == .right)
    }

    @Test
    mutating func `an old token that is sent again and again is no guess`() {
        for number in 0..<1_000 { #expect(judge("old", after: Double(number) / 100) == .wrong) }
        #expect(judge("correct-horse-battery", after: 10) == .right)
    }

    @Test
    mutating func `no more than 256 addresses are remembered, those that were wrong last`() {
        let first = Self.client("192.168.7.1")
        for number in 0..<11 { _ = judge("guess\(number)", from: first) }
        for number in 0..<255 { _ = judge("guess", from: Self.client(number), after: 0.1) }
        #expect(wrong.count == 256)
        #expect(judge("guess11", from: first, after: 0.2) == .refused)
        for number in 255..<10_000 { _ = judge("guess", from: Self.client(number), after: 0.3) }
        #expect(wrong.count == 256)
    }

    @Test
    mutating func `IPv6 addresses with one prefix guess together`() {
        for number in 0..<10 { #expect(judge("guess\(number)", from: Self.client("2001:db8:7::\(number)")) == .wrong) }
        #expect(judge("guess10", from: Self.client("2001:db8:7::10")) == .refused)
        #expect(judge("guess11", from: Self.client("2001:db8:7:1::")) == .wrong)
    }

    @Test
    mutating func `who has had the right token is not kept out by neighbours that guess`() {
        let (panel, other) = (Self.client("2001:db8:7::a"), Self.client("2001:db8:7::b"))
        #expect(judge("correct-horse-battery", from: panel) == .right)
        for number in 0..<11 { _ = judge("guess\(number)", from: Self.client("2001:db8:7::\(number)")) }
        #expect(judge("correct-horse-battery", from: other) == .refused)
        #expect(judge("correct-horse-battery", from: panel) == .right)
        // Nor may it guess more than others.
        for number in 0..<10 { #expect(judge("guess\(number)", from: panel) == .wrong) }
        #expect(judge("correct-horse-battery", from: panel) == .refused)
    }

    @Test
    mutating func `pages of other origins guess apart from the panel in the same browser`() {
        var page = Self.client("192.168.7.2")
        page.mayBeForeignPage = true
        for number in 0..<11 { _ = judge("guess\(number)", from: page) }
        #expect(judge("correct-horse-battery", from: page) == .refused)
        #expect(judge("correct-horse-battery") == .right)
        for number in 0..<11 { _ = judge("more\(number)", from: page, after: 1) }
        #expect(judge("correct-horse-battery", after: 1) == .right)
    }

    @Test
    mutating func `IPv4 addresses that reach an IPv6 server are told apart`() {
        for number in 0..<11 { _ = judge("guess\(number)", from: Self.client("::ffff:192.168.7.2")) }
        #expect(judge("correct-horse-battery", from: Self.client("::ffff:192.168.7.3")) == .right)
        #expect(judge("correct-horse-battery", from: Self.client("192.168.7.2")) == .refused)
    }

    @Test
    mutating func `an address gets one line a minute, which counts its wrong tokens`() {
        func lines(_ seconds: Range<Int>) -> [Int] {
            seconds.flatMap { second in
                (0..<100).compactMap { number in
                    wrong.judge(
                        "Bearer \(second)-\(number)", from: Self.client(1), by: token, at: start + .seconds(second)
                    ).logged
                }
            }
        }
        #expect(lines(0..<150) == [1, 6_000, 6_000])
    }

    @Test
    mutating func `many addresses together get ten lines a minute`() {
        var lines = 0
        for number in 0..<1_000 {
            let now = start + .seconds(Double(number) / 10)
            if wrong.judge("Bearer x", from: Self.client(number), by: token, at: now).logged != nil { lines += 1 }
        }
        #expect(lines == 20)
    }
}
