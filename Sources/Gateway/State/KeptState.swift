internal import BeatTime
internal import ClockDispatch
internal import Essentials

/// What the next run is to find as it was left; nil where nothing is known.
package struct KeptState: Codable, Hashable, Sendable {
    /// The Link switch.
    package var link: Bool?
    package var startStopSync: Bool?
    /// The tempo that was in force last, in beats per minute.
    package var tempo: Double?
    /// Shared quantum in beats.
    package var quantum: Replacement<Double>?
    /// Whose clock to follow, as ``FollowChoice`` reads it.
    package var follow: Replacement<String>?
    /// Offsets of outputs in milliseconds, by the outputs' IDs.
    package var offsets: [String: Replacement<Double>] = [:]
    /// IDs of the outputs whose devices have been started and have not taken a Stop since.
    package var playing: [String] = []

    package init() {}

    /// A tempo as it is kept: to a thousandth, for what is finer is a follower's guess.
    static func rounded(_ tempo: Tempo) -> Double { (tempo.clamped.beatsPerMinute * 1_000).rounded() / 1_000 }

    /// The most offsets that are kept.
    static let mostOffsets = 256

    /// Whether everything lies where it may; what a file says is a stranger's word.
    private var isSound: Bool {
        tempo.map(Tempo.allowed.contains) != false
            && quantum.map { (0...64).contains($0.value) } != false
            && follow.map { (try? FollowChoice($0.value)) != nil } != false
            && offsets.count <= Self.mostOffsets
            && offsets.values.allSatisfy { OutputAdjustment.offsets.contains($0.value) }
            && playing.count <= OutputBoard.capacity
    }
}

/// A setting made while the gateway ran, and what was configured then: it counts until something else is configured.
package struct Replacement<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    package var value: Value
    package var insteadOf: Value

    /// A setting that replaces a configured one; nil if it is the configured one.
    ///
    /// - Parameters:
    ///   - value: what is set.
    ///   - configured: what is configured.
    package init?(_ value: Value, insteadOf configured: Value) {
        guard value != configured else { return nil }
        (self.value, insteadOf) = (value, configured)
    }

    /// What is set, if what is configured is still the same.
    package func value(over configured: Value) -> Value? { configured == insteadOf ? value : nil }
}

extension KeptState {
    /// The version of the file's form that is written, and read.
    static let version = 1

    /// Why a text is no state, as a clause.
    struct Unreadable: Error, Hashable {
        var reason: String
    }

    private struct Versioned: Codable {
        var version: Int
    }

    /// Reads what ``json`` has written, or what anyone else has.
    init(json: [UInt8]) throws(Unreadable) {
        guard let version = try? JSON.value(Versioned.self, from: json).version else {
            throw Unreadable(reason: "it is no state of Tactus")
        }
        guard version <= Self.version else {
            throw Unreadable(reason: "it is of a newer version of Tactus")
        }
        guard let state = try? JSON.value(Self.self, from: json), state.isSound else {
            throw Unreadable(reason: "it is damaged")
        }
        self = state
    }

    /// The contents of the file.
    var json: [UInt8] {
        // Fails for numbers only that JSON does not have, and those are not let in.
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
        offsets = try container.decodeIfPresent([String: Replacement<Double>].self, forKey: .offsets) ?? [:]
        playing = try container.decodeIfPresent([String].self, forKey: .playing) ?? []
    }
}
