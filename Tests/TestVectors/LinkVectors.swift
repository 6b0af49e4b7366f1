public import BeatTime
internal import Foundation

/// Link's arithmetic and packets as numbers and bytes that every implementation must come to.
///
/// Times are microseconds, beats are microbeats unless the type says otherwise.
public struct LinkVectors: Decodable, Sendable {
    public var tempo: [TempoOnWire]
    public var clamp: [Clamp]
    public var beats: [BeatsFromDouble]
    public var toBeats: [LineAtTime]
    public var fromBeats: [LineAtTime]
    public var phase: [Phase]
    public var match: [Match]
    public var phaseEncoded: [PhaseEncoded]
    public var timeAtBeat: [TimeAtBeat]
    public var setTempo: [SetTempo]
    public var request: [Request]
    public var force: [Force]
    public var clientFromSession: [Mapping]
    public var sessionFromClient: [Mapping]
    public var startStop: StartStop
    /// Hexadecimal digits by name.
    public var packets: [String: String]

    public struct TempoOnWire: Decodable, Sendable { public var bpm, received, clamped: Double, microsPerBeat: Int64 }
    public struct Clamp: Decodable, Sendable { public var bpm, out: Double }
    public struct BeatsFromDouble: Decodable, Sendable { public var beats: Double, micro: Int64 }
    public struct LineAtTime: Decodable, Sendable {
        public var bpm: Double
        public var beatOrigin, timeOrigin, time, micro: Int64
    }
    public struct Phase: Decodable, Sendable { public var beats, quantum, phase: Int64 }
    public struct Match: Decodable, Sendable { public var x, target, quantum, next, closest: Int64 }
    public struct PhaseEncoded: Decodable, Sendable {
        public var bpm: Double
        public var beatOrigin, timeOrigin, quantum, time, encoded, phase, back: Int64
    }
    public struct TimeAtBeat: Decodable, Sendable {
        public var bpm: Double
        public var beatOrigin, timeOrigin, quantum, beat, time: Int64
    }
    public struct SetTempo: Decodable, Sendable {
        public var bpm, outBpm: Double
        public var at, outBeatOrigin, outTimeOrigin: Int64
    }
    public struct Request: Decodable, Sendable {
        public var connected: Bool
        public var beat, quantum, beatAtTime: Double
        public var time, outBeatOrigin, outTimeOrigin, timeAtBeat: Int64
    }
    public struct Force: Decodable, Sendable {
        public var bpm, beat, quantum: Double
        public var beatOrigin, timeOrigin, time, outBeatOrigin, outTimeOrigin: Int64
    }
    public struct Line: Decodable, Sendable {
        public var bpm: Double
        public var beatOrigin, timeOrigin: Int64

        /// The same line on the clock that the context asks for.
        public func timeline<Time: Instant>() -> Timeline<Time> {
            Timeline(
                tempo: Tempo(beatsPerMinute: bpm), beatOrigin: Beats(microbeats: beatOrigin),
                timeOrigin: Time(microseconds: timeOrigin))
        }
    }
    public struct Mapping: Decodable, Sendable {
        public var client, session, out: Line
        public var intercept, at: Int64
    }
    public struct StartStop: Decodable, Sendable {
        public var session: Line
        public var intercept, clientTime, clientTimestamp, sessionBeats, sessionTimestamp, backTime: Int64
    }

    /// Reads the vectors from the file beside this one.
    public static func load() throws -> LinkVectors {
        guard let url = Bundle.module.url(forResource: "link-test-vectors", withExtension: "json") else {
            throw CocoaError(.fileNoSuchFile)
        }
        return try JSONDecoder().decode(LinkVectors.self, from: Data(contentsOf: url))
    }

    /// The bytes of a packet; empty if there is none of that name.
    public func packet(_ name: String) -> [UInt8] {
        let digits = Array((packets[name] ?? "").utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
        }
    }
}
