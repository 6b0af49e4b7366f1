import GatewayStatus
import Testing

@testable import tactus

/// What `tactus peers` prints.
@Suite
struct PeersTextTests {
    private let time = "2026-11-23T17:05:00.250Z"

    @Test
    func `peers are listed with what is known of them, and the last change`() {
        let peers = [
            SessionPeer(
                node: "00000000000000ab", session: "00000000000000cd", together: true, address: "127.0.0.1",
                interfaces: [.init(name: "lo", address: "127.0.0.1")], tempo: 128.5, since: time,
                roundTripMicroseconds: 210, local: true, port: 4000, program: "Live"),
            SessionPeer(
                node: "00000000000000ef", session: "00000000000000ef", together: false, address: "10.0.0.2",
                interfaces: [.init(name: "eth0", address: "10.0.0.1"), .init(name: nil, address: "10.1.0.1")],
                tempo: 90, since: time),
        ]
        let change = Status.Change(
            number: 3, what: .tempo, value: 128.5, origin: .peer, address: "127.0.0.1", node: "00000000000000ab",
            at: time, probable: true)
        #expect(
            PeersText.lines(.init(peers: peers, change: change)).joined(separator: "\n") == """
                ADDRESS    INTERFACE      PROGRAM  TEMPO  SESSION           ROUND TRIP  SINCE                     NODE
                127.0.0.1  lo             Live     128.5  ours              210 us      \(time)  00000000000000ab
                10.0.0.2   10.1.0.1,eth0  -        90     00000000000000ef  -           \(time)  00000000000000ef

                last change: tempo 128.5, probably by 127.0.0.1 (node 00000000000000ab), at \(time)
                """)
        #expect(PeersText.lines(.init(peers: [], change: nil)) == ["no Link peers"])
    }

    @Test
    func `a change says what, by whom and when`() {
        func text(_ change: Status.Change) -> String { PeersText.text(change) }
        #expect(
            text(.init(number: 1, what: .play, origin: .here, at: time)) == "play, by this gateway, at \(time)")
        #expect(
            text(
                .init(
                    number: 1, what: .stop, origin: .peer, address: "10.0.0.2", node: "ab", at: time, followed: false))
                == "stop, by 10.0.0.2 (node ab), not followed, at \(time)")
        #expect(
            text(
                .init(
                    number: 1, what: .joined, value: 125, previous: 90, session: "ab", origin: .peer,
                    address: "10.0.0.2", node: "ab", at: time))
                == "joined the session of 10.0.0.2 (node ab): tempo 90 to 125, at \(time)")
        #expect(
            text(
                .init(
                    number: 1, what: .joined, value: 125, previous: 90, session: "ab", origin: .unknown, at: time))
                == "joined session ab, whose founder has left: tempo 90 to 125, at \(time)")
    }

    @Test
    func `a screen that is too low cuts the table, not what is below it`() {
        let peer = SessionPeer(
            node: "ab", session: "cd", together: true, address: "10.0.0.2", interfaces: [], tempo: 90, since: time)
        var screen = PeersScreen(
            answer: .init(
                peers: Array(repeating: peer, count: 30),
                change: .init(number: 1, what: .play, origin: .here, at: time)))
        screen.trouble = "nobody answers"
        let lines = screen.lines(.init(columns: 80, rows: 10)).map(\.text)
        #expect(lines.count == 10)
        #expect(lines.first == "nobody answers")
        #expect(lines[2].hasPrefix("ADDRESS"))
        #expect(lines[5] == "  and 28 more lines")
        #expect(lines[6...] == ["", "last change: play, by this gateway, at \(time)", "", "q quit"])
    }
}
