import BeatTime
import MIDIClock

@testable import Pulses

/// What one stream must play.
struct Score {
    var map: TempoMap
    var plan: OutputPlan

    init(_ line: TickLine, _ transport: PlannedTransport = .stopped, _ settings: OutputSettings = OutputSettings()) {
        (map, plan) = (TempoMap(line), OutputPlan(transport: transport, settings: settings))
    }
}

/// Ticks at a tempo, with tick 0 at time 0.
func line(_ beatsPerMinute: Double) -> TickLine {
    TickLine(
        microsecondsPerBeat: Tempo(beatsPerMinute: beatsPerMinute).microsecondsPerBeat,
        timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)
}

func song(from startTick: Int64, ticksPerBar: Int64 = 96) -> PlannedTransport {
    PlannedTransport(isPlaying: true, startTick: startTick, ticksPerBar: ticksPerBar)
}

extension PulseSettings {
    /// For machines with DIN sync: a clock that is on half the time, and `run` 10 ms before the first beat.
    static func dinSync(_ pulsesPerBeat: Int64 = 24) -> PulseSettings {
        PulseSettings([PulseLine(.clock(.perBeat(pulsesPerBeat), .percent(50))), PulseLine(.run)], lead: 10_000)
    }

    /// A clock alone.
    static func clock(_ rate: PulseRate, _ width: PulseWidth = .microseconds(5_000)) -> PulseSettings {
        PulseSettings([PulseLine(.clock(rate, width))])
    }
}

/// A stream whose edges are asked for in blocks, as a card's thread does.
struct PulseRig {
    var stream: PulseStream
    var now: Int64 = 1
    /// Length of a block in microseconds.
    var block: Int64 = 5_000
    private(set) var edges: [[PulseEdge]]

    init(_ settings: PulseSettings) {
        stream = PulseStream(settings)
        edges = settings.lines.map { _ in [] }
    }

    mutating func run(_ score: Score, until end: Int64) {
        while now < end {
            let next = min(now + block, end)
            while let edge = stream.next(
                score.plan, on: score.map, from: HostTime(microseconds: now), until: HostTime(microseconds: next))
            { edges[edge.line].append(edge) }
            now = next
        }
    }

    /// The card plays nothing for a time, in microseconds.
    mutating func stall(_ microseconds: Int64) {
        now += microseconds
        stream.fellSilent()
    }

    /// When a line went on, in microseconds.
    func rises(_ line: Int = 0) -> [Int64] { times(line) { $0 != off(line) } }

    /// When a line went off, in microseconds.
    func falls(_ line: Int = 0) -> [Int64] { times(line) { $0 == off(line) } }

    private func off(_ line: Int) -> Float { stream.settings.lines[line].level(isOn: false) }

    private func times(_ line: Int, _ isWanted: (Float) -> Bool) -> [Int64] {
        edges[line].filter { isWanted($0.level) }.map(\.time.microseconds)
    }

    /// The lengths of a line's pulses, in microseconds.
    func widths(_ line: Int = 0) -> [Int64] { zip(rises(line), falls(line)).map { $1 - $0 } }

    /// The lengths of the pauses between a line's pulses, in microseconds.
    func pauses(_ line: Int = 0) -> [Int64] { zip(falls(line), rises(line).dropFirst()).map { $1 - $0 } }
}
