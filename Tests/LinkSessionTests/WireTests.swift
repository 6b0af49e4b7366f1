import BeatTime
import LinkSession
import TestVectors
import Testing

@Suite
struct WireTests {
    private let vectors: LinkVectors

    init() throws { vectors = try LinkVectors.load() }

    private static let stateMessages = ["alive", "resp", "alive6", "alivea"]
    private static let measurementMessages = ["ping1", "ping2", "pong1", "pong2"]

    private func node(_ name: String) -> NodeID { NodeID(bits: name.utf8.reduce(0) { $0 << 8 | UInt64($1) }) }

    private func announcement(
        session: String = "LKnode_A", microsPerBeat: Int64 = 500_000, beatOrigin: Int64 = 8_000_000,
        timeOrigin: Int64 = 3_999_877, startStop: StartStopState = .initial, endpoint: Endpoint?
    ) -> Announcement {
        let timeline = GhostTimeline(
            tempo: Tempo(microsecondsPerBeat: microsPerBeat), beatOrigin: Beats(microbeats: beatOrigin),
            timeOrigin: GhostTime(microseconds: timeOrigin))
        return Announcement(
            session: node(session), timeline: timeline, startStop: startStop, measurementEndpoint: endpoint)
    }

    @Test
    func `a founder's alive has the expected bytes`() throws {
        let message = try DiscoveryDecoder(vectors.packet("alive"))
        let expected = announcement(endpoint: Endpoint(address: .v4(192, 168, 7, 42), port: 51337))
        #expect(message.header == DiscoveryHeader(kind: .alive, timeToLive: 5, sender: node("LKnode_A")))
        #expect(try message.announcement() == expected)
        #expect(message.header.encoded(with: expected) == vectors.packet("alive"))
    }

    @Test
    func `a playing member's response has the expected bytes`() throws {
        let message = try DiscoveryDecoder(vectors.packet("resp"))
        let playing = StartStopState(
            isPlaying: true, beats: Beats(16), timestamp: GhostTime(microseconds: 7_400_000))
        let expected = announcement(
            microsPerBeat: 468_750, beatOrigin: 14_250_000, timeOrigin: 6_875_123, startStop: playing,
            endpoint: Endpoint(address: .v4(192, 168, 7, 43), port: 40961))
        #expect(message.header == DiscoveryHeader(kind: .response, timeToLive: 5, sender: node("LKnode_B")))
        #expect(try message.announcement() == expected)
        #expect(message.header.encoded(with: expected) == vectors.packet("resp"))
    }

    @Test
    func `a bye-bye is a header alone`() throws {
        let header = DiscoveryHeader(kind: .byeBye, timeToLive: 0, sender: node("LKnode_B"))
        #expect(try DiscoveryDecoder(vectors.packet("bye")).header == header)
        #expect(header.encoded(with: nil) == vectors.packet("bye"))
    }

    @Test
    func `an IPv6 peer announces its measurement endpoint`() throws {
        let message = try DiscoveryDecoder(vectors.packet("alive6"))
        let address = IPAddress.v6(high: 0xfe80_0000_0000_0000, low: 0x1234_56ff_fe78_9abc)
        let expected = announcement(endpoint: Endpoint(address: address, port: 51337))
        #expect(try message.announcement() == expected)
        #expect(message.header.encoded(with: expected) == vectors.packet("alive6"))
    }

    @Test
    func `an audio peer's audio endpoint is skipped`() throws {
        let audio = try DiscoveryDecoder(vectors.packet("alivea")).announcement()
        #expect(try audio == DiscoveryDecoder(vectors.packet("alive")).announcement())
    }

    @Test
    func `pings and pongs have the expected bytes`() throws {
        let (first, second) = (HostTime(microseconds: 5_000_000), HostTime(microseconds: 5_000_400))
        let (ghost, later) = (GhostTime(microseconds: 105_000_180), GhostTime(microseconds: 105_000_590))
        #expect(MeasurementMessage.ping(hostTime: first) == vectors.packet("ping1"))
        #expect(
            MeasurementMessage.ping(hostTime: second, previousGhostTime: ghost) == vectors.packet("ping2"))
        let session = node("LKnode_A")
        for (name, time) in [("1", ghost), ("2", later)] {
            let ping = vectors.packet("ping\(name)")
            #expect(try MeasurementMessage(ping) == .ping(ping[9...]))
            let pong = MeasurementMessage.pong(session: session, ghostTime: time, echoing: ping[9...])
            #expect(pong == vectors.packet("pong\(name)"))
        }
        let expected = MeasurementMessage.Pong(
            session: session, ghostTime: later, hostTime: second, previousGhostTime: ghost)
        #expect(try MeasurementMessage(vectors.packet("pong2")) == .pong(expected))
    }

    @Test
    func `a truncated state message is rejected`() throws {
        for name in Self.stateMessages {
            let packet = vectors.packet(name)
            #expect(packet.count > 100)
            for length in 0..<packet.count {
                let cut = Array(packet.prefix(length))
                // Truncated between entries the rest is valid, but incomplete until all required entries are there.
                let isWhole = [20, 52, 68, 93].contains(length) || (length == 107 && name == "alivea")
                if length >= 68, isWhole {
                    #expect(throws: Never.self) { try DiscoveryDecoder(cut).announcement() }
                } else {
                    #expect(throws: isWhole ? WireError.missingEntry : .truncated) {
                        try DiscoveryDecoder(cut).announcement()
                    }
                }
            }
        }
    }

    @Test
    func `a truncated measurement message is rejected or says less`() throws {
        for name in Self.measurementMessages {
            let packet = vectors.packet(name)
            #expect(packet.count >= 25)
            for length in 0..<9 {
                #expect(throws: WireError.truncated) { try MeasurementMessage(Array(packet.prefix(length))) }
            }
            for length in 9..<packet.count where name.hasPrefix("pong") {
                let cut = Array(packet.prefix(length))
                if [9, 25, 41, 57].contains(length) {
                    #expect(throws: Never.self) { try MeasurementMessage(cut) }
                } else {
                    #expect(throws: WireError.truncated) { try MeasurementMessage(cut) }
                }
            }
        }
    }

    @Test
    func `unknown entries are skipped, any order is accepted, and the last of two counts`() throws {
        let entries = Array(vectors.packet("alive")[20...])
        let header = Array(vectors.packet("alive")[..<20])
        let unknown: [UInt8] = Array("what".utf8) + [0, 0, 0, 3, 1, 2, 3] + Array("zero".utf8) + [0, 0, 0, 0]
        let shuffled = header + entries[73...] + unknown + entries[48..<73] + entries[32..<48] + entries[..<32]
        #expect(
            try DiscoveryDecoder(shuffled).announcement() == DiscoveryDecoder(header + entries).announcement())
        let other: [UInt8] = Array("sess".utf8) + [0, 0, 0, 8] + Array("LKnode_C".utf8)
        #expect(try DiscoveryDecoder(header + entries + other).announcement().session == node("LKnode_C"))
    }

    @Test(arguments: ["tmln", "sess", "stst", "mep4", "mep6"])
    func `a known entry of another size is rejected`(key: String) {
        let size: UInt8 = key == "sess" ? 7 : 40
        let entry: [UInt8] = Array(key.utf8) + [0, 0, 0, size] + Array(repeating: 1, count: Int(size))
        #expect(throws: WireError.wrongSize) {
            try DiscoveryDecoder(vectors.packet("alive") + entry).announcement()
        }
    }

    @Test
    func `an entry longer than the message is rejected`() {
        for claim: [UInt8] in [[0xff, 0xff, 0xff, 0xff], [0x7f, 0xff, 0xff, 0xff], [0, 0, 0, 1]] {
            #expect(throws: WireError.truncated) {
                try DiscoveryDecoder(vectors.packet("alive") + Array("abcd".utf8) + claim).announcement()
            }
        }
    }

    @Test
    func `only the first 512 bytes count`() throws {
        let room = 512 - 107 - 8
        for (size, isRefused) in [(room, false), (room + 1, true)] {
            let length: [UInt8] = [0, 0, UInt8(size >> 8), UInt8(size & 255)]
            let filler = Array("fill".utf8) + length + Array(repeating: 0, count: size)
            let message = try DiscoveryDecoder(vectors.packet("alive") + filler)
            if isRefused {
                #expect(throws: WireError.truncated) { try message.announcement() }
            } else {
                #expect(throws: Never.self) { try message.announcement() }
            }
        }
    }

    @Test
    func `another protocol, version, group or type is rejected`() {
        var marker = vectors.packet("alive")
        marker[7] = 2
        #expect(throws: WireError.foreignMarker) { try DiscoveryDecoder(marker) }
        #expect(throws: WireError.foreignMarker) { try MeasurementMessage(vectors.packet("alive")) }
        var group = vectors.packet("alive")
        group[10] = 1
        #expect(throws: WireError.foreignGroup) { try DiscoveryDecoder(group) }
        for type: UInt8 in [0, 4, 255] {
            var message = vectors.packet("alive")
            message[8] = type
            #expect(throws: WireError.unknownType) { try DiscoveryDecoder(message) }
            var ping = vectors.packet("ping1")
            ping[8] = type
            #expect(throws: WireError.unknownType) { try MeasurementMessage(ping) }
        }
    }

    @Test
    func `any number is taken as it is, and any tempo as the nearest in range`() throws {
        for number in [.min, -1 << 62, -(1 << 53) - 1, -1, 0, 1, (1 << 53) + 1, .max] as [Int64] {
            let timeline = try read(timeline: [500_000, number, 0 &- number]).timeline
            #expect(timeline.beatOrigin.microbeats == number)
            #expect(timeline.timeOrigin.microseconds == 0 &- number)
            let startStop = StartStopState(
                isPlaying: true, beats: Beats(microbeats: number), timestamp: GhostTime(microseconds: 0 &- number))
            let bytes = DiscoveryHeader(kind: .alive, timeToLive: 5, sender: node("LKnode_A"))
                .encoded(with: announcement(startStop: startStop, endpoint: nil))
            #expect(try DiscoveryDecoder(bytes).announcement().startStop == startStop)
            let pong = MeasurementMessage.Pong(
                session: node("LKnode_A"), ghostTime: GhostTime(microseconds: number),
                hostTime: HostTime(microseconds: 0),
                previousGhostTime: GhostTime(microseconds: 0))
            let message = MeasurementMessage.pong(session: pong.session, ghostTime: pong.ghostTime, echoing: [])
            #expect(try MeasurementMessage(message) == .pong(pong))
        }
        // As official peers take them: 0 is faster than any tempo, and a negative length slower.
        for (length, tempo) in [(.min, 20), (-1, 20), (0, 999), (1, 999), (60_060, 999), (.max, 20)]
            as [(Int64, Double)]
        {
            #expect(try read(timeline: [length, 0, 0]).timeline.tempo.beatsPerMinute == tempo)
        }
    }

    private func read(timeline numbers: [Int64]) throws -> Announcement {
        let body = numbers.flatMap { number in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
        }
        let entry: [UInt8] = Array("tmln".utf8) + [0, 0, 0, 24] + body
        return try DiscoveryDecoder(vectors.packet("alive") + entry).announcement()
    }

    @Test
    func `pings of up to 32 bytes are echoed, longer ones rejected`() throws {
        let header = Array(vectors.packet("ping1")[..<9])
        for size in [0, 32] {
            let payload = [UInt8](repeating: 7, count: size)
            #expect(try MeasurementMessage(header + payload) == .ping(payload[...]))
        }
        #expect(throws: WireError.tooLong) { try MeasurementMessage(header + [UInt8](repeating: 7, count: 33)) }
    }

    @Test(arguments: [
        (UInt64(0xfe80) << 48, UInt64(0x1234_56ff_fe78_9abc), "fe80::1234:56ff:fe78:9abc"),
        (0xff12 << 48, 0x8080, "ff12::8080"), (0, 1, "::1"), (0, 0, "::"), (0xfe80 << 48, 0, "fe80::"),
        (0x2001_0db8_0000_0001, 0x0000_0000_0000_0001, "2001:db8:0:1::1"),
        (0x0001_0000_0003_0000, 0x0005_0006_0007_0008, "1:0:3:0:5:6:7:8"),
    ])
    func `an IPv6 address has the usual notation`(high: UInt64, low: UInt64, text: String) {
        #expect(IPAddress.v6(high: high, low: low).description == text)
    }
}
