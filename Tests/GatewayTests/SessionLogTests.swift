import BeatTime
import LinkSession
import Logging
import Testing

@testable import Gateway
@testable import LinkNetwork

/// One log line for each change of the session.
@Suite
struct SessionLogTests {
    private let peer = Announcer(node: NodeID(bits: 0xAB), address: .v4(10, 0, 0, 2), interface: .v4(10, 0, 0, 1))
    private var log = SessionLog(
        after: LinkState(Engine(tempo: Tempo(beatsPerMinute: 120), seed: 1, at: Self.start), at: Self.start))
    private var changes = ChangeLogMaker()

    private static let start = HostTime(microseconds: 0)

    /// Numbers changes as the Link peer does.
    private struct ChangeLogMaker {
        var all: [DatedChange] = []

        mutating func add(
            _ what: SessionChange.What, _ origin: SessionChange.Origin, atSecond second: Double,
            isProbable: Bool = false, isFollowed: Bool = true
        ) {
            let change = SessionChange(
                number: UInt64(all.count + 1), what: what, origin: origin, isProbable: isProbable,
                isFollowed: isFollowed, at: HostTime(microseconds: Int64(second * 1e6)))
            all.append(DatedChange(change, millisecondsSince1970: 0))
        }
    }

    private mutating func lines() -> [String] { log.take(changes.all).map(\.line) }

    @Test
    mutating func `a tempo is logged once it rests`() {
        for step in 0..<20 {
            changes.add(
                .tempo(Tempo(beatsPerMinute: 100 + Double(step))), .peer(peer), atSecond: 0.05 * Double(step))
            #expect(lines().isEmpty)
        }
        #expect(log.takeRested(at: HostTime(microseconds: 1_949_999)) == nil)
        #expect(log.deadline == HostTime(microseconds: 1_950_000))
        let line = log.takeRested(at: HostTime(microseconds: 1_950_000))?.line
        #expect(line == "a peer changed the tempo address=10.0.0.2 node=00000000000000ab tempo=119.0")
        #expect(log.deadline == nil)
    }

    @Test
    mutating func `play and stop are logged at once, after the tempo that moved before`() {
        changes.add(.tempo(Tempo(beatsPerMinute: 90)), .peer(peer), atSecond: 1, isProbable: true)
        changes.add(.play, .peer(peer), atSecond: 1.2, isProbable: true)
        changes.add(.stop, .peer(peer), atSecond: 1.4, isFollowed: false)
        #expect(
            lines() == [
                "a peer probably changed the tempo address=10.0.0.2 node=00000000000000ab tempo=90.0",
                "a peer probably pressed play address=10.0.0.2 node=00000000000000ab",
                "a peer pressed stop; it is not followed, because start/stop sync is off address=10.0.0.2 "
                    + "node=00000000000000ab",
            ])
        #expect(lines().isEmpty)
    }

    @Test
    mutating func `own changes are logged as such, and a join names session and tempos`() {
        changes.add(.tempo(Tempo(beatsPerMinute: 90)), .here, atSecond: 1)
        changes.add(.play, .here, atSecond: 1)
        changes.add(
            .joined(session: peer.node, from: Tempo(beatsPerMinute: 90), to: Tempo(beatsPerMinute: 125)),
            .peer(peer), atSecond: 2)
        changes.add(
            .joined(session: peer.node, from: Tempo(beatsPerMinute: 90), to: Tempo(beatsPerMinute: 90)), .unknown,
            atSecond: 2)
        #expect(
            lines() == [
                "this gateway changed the tempo tempo=90.0", "this gateway pressed play",
                "joined another session and took over its tempo address=10.0.0.2 node=00000000000000ab "
                    + "session=00000000000000ab tempo=125.0 tempo before=90.0",
                "joined another session session=00000000000000ab tempo=90.0 tempo before=90.0",
            ])
        #expect(log.deadline == nil)
    }
}

extension LogEntry {
    fileprivate var line: String {
        "\(text)" + metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    }
}
