package import BeatTime
internal import Foundation

/// Link's arithmetic and packets as numbers and bytes that every implementation must come to.
///
/// Times are microseconds, beats are microbeats unless the type says otherwise.
package struct LinkVectors: Decodable, Sendable {
    package var tempo: [TempoOnWire]
    package var clamp: [Clamp]
    package var beats: [BeatsFromDouble]
    package var toBeats: [LineAtTime]
    package var fromBeats: [LineAtTime]
    package var phase: [Phase]
    package var match: [Match]
    package var phaseEncoded: [PhaseEncoded]
    package var timeAtBeat: [TimeAtBeat]
    package var setTempo: [SetTempo]
    package var request: [Request]
    package var force: [Force]
    package var clientFromSession: [Mapping]
    package var sessionFromClient: [Mapping]
    package var startStop: StartStop
    /// Hexadecimal digits by name.
    package var packets: [String: String]

    package struct TempoOnWire: Decodable, Sendable { package var bpm, received, clamped: Double, microsPerBeat: Int64 }
    package struct Clamp: Decodable, Sendable { package var bpm, out: Double }
    package struct BeatsFromDouble: Decodable, Sendable { package var beats: Double, micro: Int64 }
    package struct LineAtTime: Decodable, Sendable {
        package var bpm: Double
        package var beatOrigin, timeOrigin, time, micro: Int64
    }
    package struct Phase: Decodable, Sendable { package var beats, quantum, phase: Int64 }
    package struct Match: Decodable, Sendable { package var x, target, quantum, next, closest: Int64 }
    package struct PhaseEncoded: Decodable, Sendable {
        package var bpm: Double
        package var beatOrigin, timeOrigin, quantum, time, encoded, phase, back: Int64
    }
    package struct TimeAtBeat: Decodable, Sendable {
        package var bpm: Double
        package var beatOrigin, timeOrigin, quantum, beat, time: Int64
    }
    package struct SetTempo: Decodable, Sendable {
        package var bpm, outBpm: Double
        package var at, outBeatOrigin, outTimeOrigin: Int64
    }
    package struct Request: Decodable, Sendable {
        package var connected: Bool
        package var beat, quantum, beatAtTime: Double
        package var time, outBeatOrigin, outTimeOrigin, timeAtBeat: Int64
    }
    package struct Force: Decodable, Sendable {
        package var bpm, beat, quantum: Double
        package var beatOrigin, timeOrigin, time, outBeatOrigin, outTimeOrigin: Int64
    }
    package struct Line: Decodable, Sendable {
        package var bpm: Double
        package var beatOrigin, timeOrigin: Int64

        /// The same line on the clock that the context asks for.
        package func timeline<Time: Instant>() -> Timeline<Time> {
            Timeline(
                tempo: Tempo(beatsPerMinute: bpm), beatOrigin: Beats(microbeats: beatOrigin),
                timeOrigin: Time(microseconds: timeOrigin))
        }
    }
    package struct Mapping: Decodable, Sendable {
        package var client, session, out: Line
        package var intercept, at: Int64
    }
    package struct StartStop: Decodable, Sendable {
        package var session: Line
        package var intercept, clientTime, clientTimestamp, sessionBeats, sessionTimestamp, backTime: Int64
    }

    /// Reads the vectors from the file beside this one.
    package static func load() throws -> LinkVectors {
        guard let url = Bundle.module.url(forResource: "link-test-vectors", withExtension: "json") else {
            throw CocoaError(.fileNoSuchFile)
        }
        return try JSONDecoder().decode(LinkVectors.self, from: Data(contentsOf: url))
    }

    /// The bytes of a packet; empty if there is none of that name.
    package func packet(_ name: String) -> [UInt8] {
        let digits = Array((packets[name] ?? "").utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
        }
    }
}
