import BeatTime
import LinkSession

/// What a peer says of itself when it comes, and somebody who hears it.
struct Presence {
    let bytes: [UInt8]
    private static let local = IPAddress.v4(0x7F00_0001)

    init() {
        var peer = Engine(tempo: Tempo(beatsPerMinute: 128), seed: 7, at: HostTime(microseconds: 0))
        bytes = Self.appear(&peer)
    }

    var listener: Engine {
        var engine = Engine(tempo: Tempo(beatsPerMinute: 120), seed: 8, at: HostTime(microseconds: 0))
        _ = Self.appear(&engine)
        return engine
    }

    /// What the codec makes of it.
    func read() -> Announcement? {
        guard let decoder = try? DiscoveryDecoder(bytes) else { return nil }
        return try? decoder.announcement()
    }

    func heard(by engine: inout Engine, at now: HostTime) -> [Datagram] {
        engine.received(
            bytes, from: Endpoint(address: Self.local, port: 20_808), on: Self.local, channel: .discovery, at: now)
    }

    private static func appear(_ engine: inout Engine) -> [UInt8] {
        let now = HostTime(microseconds: 1)
        var datagrams = engine.setEnabled(true, at: now)
        datagrams += engine.interfaceAppeared(
            local, measurementEndpoint: Endpoint(address: local, port: 50_000), at: now)
        return datagrams.first?.bytes ?? []
    }
}
