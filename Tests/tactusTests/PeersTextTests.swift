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

                last change: tempo 128.5 by 127.0.0.1 (node 00000000000000ab), probably, at \(time)
                """)
        #expect(PeersText.lines(.init(peers: [], change: nil)) == ["no Link peers"])
    }

    @Test
    func `a change says what, by whom and when`() {
        func text(_ change: Status.Change) -> String { PeersText.text(change) }
        #expect(
            text(.init(number: 1, what: .play, origin: .here, at: time)) == "play here, at \(time)")
        #expect(
            text(.init(number: 1, what: .stop, origin: .unknown, at: time, probable: true, followed: false))
                == "stop by an unknown peer, not followed, at \(time)")
        #expect(
            text(
                .init(
                    number: 1, what: .joined, value: 125, previous: 90, session: "ab", origin: .peer,
                    address: "10.0.0.2", node: "ab", at: time))
                == "joined session ab, tempo 90 to 125 of 10.0.0.2 (node ab), at \(time)")
    }
}
