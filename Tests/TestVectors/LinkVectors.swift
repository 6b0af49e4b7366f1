package import BeatTime
internal import Foundation

/// Test vectors for Link's arithmetic and packets: inputs, and the exact results of every implementation.
///
/// Times are in microseconds. Beats are in microbeats if the field is an `Int64`, and in beats if it is a `Double`.
package struct LinkVectors: Decodable, Sendable {
    package var tempo: [TempoOnWire]
    package var clamp: [Clamp]
    package var beats: [BeatsFromDouble]
    package var toBeats: [BeatAtTime]
    package var fromBeats: [BeatAtTime]
    package var phase: [Phase]
    package var match: [PhaseMatch]
    package var phaseEncoded: [PhaseEncoded]
    package var timeAtBeat: [TimeAtBeat]
    package var setTempo: [SetTempo]
    package var request: [RequestBeatAtTime]
    package var force: [ForceBeatAtTime]
    package var clientFromSession: [TimelineMapping]
    package var sessionFromClient: [TimelineMapping]
    package var startStop: StartStop
    /// Packets in hexadecimal, by name.
    package var packets: [String: String]

    package struct TempoOnWire: Decodable, Sendable { package var bpm, received, clamped: Double, microsPerBeat: Int64 }
    package struct Clamp: Decodable, Sendable { package var bpm, out: Double }
    package struct BeatsFromDouble: Decodable, Sendable { package var beats: Double, micro: Int64 }
    package struct BeatAtTime: Decodable, Sendable {
        package var bpm: Double
        package var beatOrigin, timeOrigin, time, micro: Int64
    }
    package struct Phase: Decodable, Sendable { package var beats, quantum, phase: Int64 }
    /// The next and the closest beat to `x` that have the phase of `target`.
    package struct PhaseMatch: Decodable, Sendable { package var x, target, quantum, next, closest: Int64 }
    /// The beat that is shown at a time: `encoded`; `back` is the time that it converts back to.
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
    package struct RequestBeatAtTime: Decodable, Sendable {
        package var connected: Bool
        package var beat, quantum, beatAtTime: Double
        package var time, outBeatOrigin, outTimeOrigin, timeAtBeat: Int64
    }
    package struct ForceBeatAtTime: Decodable, Sendable {
        package var bpm, beat, quantum: Double
        package var beatOrigin, timeOrigin, time, outBeatOrigin, outTimeOrigin: Int64
    }
    package struct TimelineVector: Decodable, Sendable {
        package var bpm: Double
        package var beatOrigin, timeOrigin: Int64

        /// This timeline; the result type selects the clock, such as `HostTime` or `GhostTime`.
        package func timeline<Time: Instant>() -> Timeline<Time> {
            Timeline(
                tempo: Tempo(beatsPerMinute: bpm), beatOrigin: Beats(microbeats: beatOrigin),
                timeOrigin: Time(microseconds: timeOrigin))
        }
    }
    package struct TimelineMapping: Decodable, Sendable {
        package var client, session, out: TimelineVector
        /// Ghost time minus host time.
        package var intercept: Int64
        package var at: Int64
    }
    package struct StartStop: Decodable, Sendable {
        package var session: TimelineVector
        /// Ghost time minus host time.
        package var intercept: Int64
        package var clientTime, clientTimestamp, sessionBeats, sessionTimestamp: Int64
        /// The time that `sessionBeats` converts back to.
        package var backTime: Int64
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
