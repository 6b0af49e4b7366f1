import BeatTime
import LinkSession
import Simulation
import TestVectors
import Testing

/// Invalid packets must neither stop an engine nor disturb a session.
@Suite
struct RobustnessTests {
    private let packets: [(channel: Channel, bytes: [UInt8])]

    init() throws {
        let vectors = try LinkVectors.load()
        let discovery = ["alive", "resp", "bye", "alive6", "alivea"].map { (Channel.discovery, vectors.packet($0)) }
        let measurement = ["ping1", "pong1", "ping2", "pong2"].map { (Channel.measurement, vectors.packet($0)) }
        packets = discovery + measurement
    }

    private static let stranger = Endpoint(address: .v4(10, 66, 6, 6), port: 666)

    /// A packet as a broken program, a noisy line or an attacker might send it.
    private func mutated(_ original: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard !bytes.isEmpty else { break }
            let index = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 3: bytes[index] = .random(in: 0...255, using: &random)
            case 4: bytes.removeLast(bytes.count - index)
            case 5: bytes.insert(contentsOf: bytes[index...].prefix(20), at: index)
            case 6:
                let fill: UInt8 = [0, 0x7f, 0x80, 0xff].randomElement(using: &random) ?? 0
                for place in bytes[index...].prefix(8).indices { bytes[place] = fill }
            default:
                let garbage = (0..<Int.random(in: 0...600, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                bytes = Bool.random(using: &random) ? garbage : bytes + garbage
            }
        }
        return bytes
    }

    @Test
    func `a hundred thousand broken packets disturb no session`() {
        var random = SeededGenerator(seed: 9)
        var rig = Rig()
        let peer = Peer(7)
        rig.join(peer)
        let line = rig.engine.sessionState.timeline
        for count in 1...100_000 {
            let packet = packets[Int.random(in: 0..<packets.count, using: &random)]
            rig.hear(mutated(packet.bytes, using: &random), from: Self.stranger, channel: packet.channel)
            if count % 100 == 0 {
                rig.advance(milliseconds: 20)
                rig.hear(peer)
            }
            if count % 10_000 == 0 { rig.forgetWhatWasSent() }
        }
        #expect(rig.engine.sessionID == peer.node)
        #expect(rig.engine.peerCount == 1)
        #expect(rig.engine.sessionState.timeline == line)
        #expect(rig.engine.refusedDatagrams > 10_000)
        expectAnswers(&rig)
    }

    @Test
    func `broken packets in its own session do not stop an engine`() {
        var random = SeededGenerator(seed: 10)
        var rig = Rig()
        rig.setStartStopSync(true)
        let peer = Peer(7)
        rig.join(peer)
        let header = DiscoveryHeader(kind: .alive, timeToLive: 5, sender: peer.node)
        for count in 1...20_000 {
            let bytes = mutated(header.encoded(with: peer.announcement), using: &random)
            rig.hear(bytes, from: peer.source)
            if count % 7 == 0 {
                let now = rig.now
                rig.edit { $0.setTempo(Tempo(beatsPerMinute: Double(count % 200)), at: now) }
                rig.edit { $0.setIsPlaying(count % 2 == 0, at: now) }
            }
            if count % 50 == 0 { rig.advance(milliseconds: 300) }
            if count % 1000 == 0 { rig.forgetWhatWasSent() }
            let line = rig.engine.sessionState.timeline
            #expect(Tempo.allowed.contains(line.tempo.beatsPerMinute))
            #expect(abs(line.beatOrigin.microbeats) <= 1 << 53 && abs(line.timeOrigin.microseconds) <= 1 << 53)
        }
        expectAnswers(&rig)
    }

    @Test
    func `extreme allowed values cause no overflow`() {
        let edges: [Int64] = [-(1 << 53), -1, 0, 1, 1 << 53]
        for tempo: Int64 in [1, 60_060, 3_000_000, 1_000_000_000] {
            for beatOrigin in edges {
                for timeOrigin in edges {
                    var rig = Rig()
                    rig.setStartStopSync(true)
                    var peer = Peer(7)
                    peer.announcement.timeline = GhostTimeline(
                        tempo: Tempo(microsecondsPerBeat: tempo), beatOrigin: Beats(microbeats: beatOrigin),
                        timeOrigin: GhostTime(microseconds: timeOrigin))
                    rig.join(peer)
                    peer.announcement.startStop = StartStopState(
                        isPlaying: true, beats: Beats(microbeats: -beatOrigin),
                        timestamp: GhostTime(microseconds: 1 << 53))
                    rig.hear(peer)
                    rig.edit { $0.setIsPlaying(false, at: $0.timeline.timeOrigin) }
                    rig.edit { $0.requestBeat(.zero, at: $0.timeline.timeOrigin, quantum: Beats(4)) }
                    let line = rig.engine.sessionState.timeline
                    #expect(abs(line.beatOrigin.microbeats) <= 1 << 53)
                    #expect(abs(line.timeOrigin.microseconds) <= 1 << 53)
                }
            }
        }
    }

    @Test
    func `of a crowd of invented peers and sessions only a limited number is stored`() {
        var rig = Rig()
        rig.join(Peer(7))
        let (line, friend) = (rig.engine.sessionState.timeline, Peer(7))
        for name in 1000...4000 as ClosedRange<UInt64> {
            rig.hear(Peer(name), timeToLive: 255)
            if name % 100 == 0 { rig.hear(friend, timeToLive: 255) }
        }
        #expect(rig.engine.refusedDatagrams > 1000)
        rig.advance(milliseconds: 400)
        #expect(rig.engine.sessionState.timeline == line)
        #expect(rig.engine.peerCount == 1)
        for name in 5000...8000 as ClosedRange<UInt64> { rig.hear(Peer(name, session: friend.node), timeToLive: 255) }
        #expect(rig.engine.peerCount <= 1024)
        rig.hear(friend, timeToLive: 255)
        rig.advance(milliseconds: 20_000)
        #expect(rig.engine.sessionID == friend.node)
        expectAnswers(&rig)
        rig.advance(milliseconds: 300_000)
        #expect(rig.engine.peerCount == 0, "in the end all are forgotten")
    }

    /// Checks that the engine still answers an alive and a ping.
    private func expectAnswers(_ rig: inout Rig) {
        rig.forgetWhatWasSent()
        let newcomer = Peer(9)
        rig.hear(newcomer, .alive)
        rig.hear(MeasurementMessage.ping(hostTime: rig.now), from: newcomer.source, channel: .measurement)
        let answers = rig.sent.filter { $0.datagram.destination == .peer(newcomer.source) }
        #expect(answers.map { $0.datagram.bytes.count } == [107, 57])
    }
}
