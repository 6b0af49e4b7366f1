internal import BeatTime
internal import ClockDispatch
internal import Essentials

/// State saved for the next run; nil where nothing is known.
package struct KeptState: Codable, Hashable, Sendable {
    /// Whether Link is on.
    package var link: Bool?
    package var startStopSync: Bool?
    /// The last tempo in BPM.
    package var tempo: Double?
    /// Shared quantum in beats.
    package var quantum: Replacement<Double>?
    /// Whose clock to follow, as text for ``FollowChoice``.
    package var follow: Replacement<String>?
    /// What the configuration said at that time.
    package var written: Written?
    /// What was changed of outputs while they ran, by output ID; the file has their offsets apart, in milliseconds.
    var outputs: [String: KeptOutput] = [:]
    /// IDs of the outputs whose devices were started and have not accepted a Stop since.
    package var playing: [String] = []
    /// Whether the song was playing.
    package var isInSong = false

    package init() {}

    /// What a configuration says of how to start; nil for what it leaves open.
    package struct Written: Codable, Hashable, Sendable {
        /// In BPM.
        package var tempo: Double?
        package var link: Bool?
        package var startStopSync: Bool?

        package init(tempo: Double? = nil, link: Bool? = nil, startStopSync: Bool? = nil) {
            (self.tempo, self.link, self.startStopSync) = (tempo, link, startStopSync)
        }
    }

    /// A tempo in BPM as saved: rounded to a thousandth, since a follower's estimate is no better.
    static func rounded(_ tempo: Tempo) -> Double { (tempo.clamped.beatsPerMinute * 1_000).rounded() / 1_000 }

    /// Most outputs whose settings are saved.
    static let mostOutputs = 256

    /// Whether all values are in range; the file may come from anywhere.
    private var isSound: Bool {
        tempo.map(CommandRange.tempo.contains) != false
            && quantum.map { CommandRange.quantum.contains($0.value) } != false
            && follow.map { (try? FollowChoice($0.value)) != nil } != false
            && outputs.count <= Self.mostOutputs
            && playing.count <= OutputBoard.capacity
    }
}

/// A live setting, with the configured value at that time; it applies until the configuration changes.
package struct Replacement<Value: Hashable & Sendable>: Hashable, Sendable {
    package var value: Value
    package var insteadOf: Value

    /// A setting that replaces a configured one; nil if they are equal.
    ///
    /// - Parameters:
    ///   - value: the live setting.
    ///   - configured: the configured value.
    package init?(_ value: Value, insteadOf configured: Value) {
        guard value != configured else { return nil }
        (self.value, insteadOf) = (value, configured)
    }

    /// The same in other units.
    func map<Other>(_ convert: (Value) -> Other) -> Replacement<Other>? {
        Replacement<Other>(convert(value), insteadOf: convert(insteadOf))
    }

    /// The live setting, if the configured value is still the same.
    package func value(over configured: Value) -> Value? { configured == insteadOf ? value : nil }
}

extension Replacement: Codable where Value: Codable {}

extension Replacement<Double> {
    /// The same in smaller units, rounded.
    ///
    /// - Parameters:
    ///   - range: what both numbers may be.
    ///   - parts: how many smaller units are one of these, such as 1000 for microseconds of milliseconds.
    /// - Returns: nil if the numbers are equal then.
    /// - Throws: if one of them is out of range.
    func whole(_ range: CommandRange, of parts: Double) throws(KeptState.Unreadable) -> Replacement<Int64>? {
        guard range.contains(value), range.contains(insteadOf) else {
            throw KeptState.Unreadable(reason: "a setting of an output is not \(range.words)")
        }
        return map { Int64(($0 * parts).rounded()) }
    }
}

extension KeptState {
    /// Version of the file format.
    static let version = 1

    /// Why a text is not a valid state, as a clause.
    struct Unreadable: Error, Hashable {
        var reason: String
    }

    private struct Versioned: Codable {
        var version: Int
    }

    /// Reads a state, from this program or from any other source.
    init(json: [UInt8]) throws(Unreadable) {
        guard let version = try? JSON.value(Versioned.self, from: json).version else {
            throw Unreadable(reason: "it is not a state file of Tactus")
        }
        guard version <= Self.version else {
            throw Unreadable(reason: "a newer version of Tactus wrote it")
        }
        guard let state = try? JSON.value(Self.self, from: json), state.isSound else {
            throw Unreadable(reason: "it is damaged")
        }
        self = state
    }

    /// The contents of the file.
    var json: [UInt8] {
        // Fails only for numbers that JSON does not have; those are excluded before.
        let state = try? JSON.bytes(Document(state: self), isPretty: true)
        return (state ?? []) + Array("\n".utf8)
    }

    /// State and version side by side in one object.
    private struct Document: Encodable {
        var state: KeptState

        func encode(to encoder: any Encoder) throws {
            try Versioned(version: KeptState.version).encode(to: encoder)
            try state.encode(to: encoder)
        }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        link = try container.decodeIfPresent(Bool.self, forKey: .link)
        startStopSync = try container.decodeIfPresent(Bool.self, forKey: .startStopSync)
        tempo = try container.decodeIfPresent(Double.self, forKey: .tempo)
        quantum = try container.decodeIfPresent(Replacement<Double>.self, forKey: .quantum)
        follow = try container.decodeIfPresent(Replacement<String>.self, forKey: .follow)
        outputs = try container.decodeIfPresent([String: KeptOutput].self, forKey: .outputs) ?? [:]
        let offsets = try container.decodeIfPresent([String: Replacement<Double>].self, forKey: .offsets) ?? [:]
        for (id, offset) in offsets {
            outputs[id, default: KeptOutput()].offset = try offset.whole(.offset, of: 1_000)
        }
        playing = try container.decodeIfPresent([String].self, forKey: .playing) ?? []
        written = try container.decodeIfPresent(Written.self, forKey: .written)
        isInSong = try container.decodeIfPresent(Bool.self, forKey: .isInSong) ?? false
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(link, forKey: .link)
        try container.encodeIfPresent(startStopSync, forKey: .startStopSync)
        try container.encodeIfPresent(tempo, forKey: .tempo)
        try container.encodeIfPresent(quantum, forKey: .quantum)
        try container.encodeIfPresent(follow, forKey: .follow)
        let offsets = outputs.compactMapValues { $0.offset?.map { Double($0) / 1_000 } }
        try container.encode(offsets, forKey: .offsets)
        try container.encode(outputs.compactMapValues(\.besidesOffset), forKey: .outputs)
        try container.encode(playing, forKey: .playing)
        try container.encodeIfPresent(written, forKey: .written)
        try container.encode(isInSong, forKey: .isInSong)
    }

    private enum CodingKeys: String, CodingKey {
        case link, startStopSync, tempo, quantum, follow, offsets, outputs, playing, written, isInSong
    }
}
