import Arbiter
import BeatTime
import GatewayStatus
import MIDIClock

@testable import Gateway

// Whether what was played is as expected.
extension FieldPlay {
    /// What is not as expected, each with its place in the file.
    var complaints: [String] {
        faults
            + field.expectations.compactMap { expectation in
                complaint(about: expectation).map {
                    "\(field.file):\(expectation.place.line):\(expectation.place.column): \($0)"
                }
            }
    }

    private func complaint(about expectation: FieldCase.Expectation) -> String? {
        let during = expectation.during
        let heard = heard.filter { during.contains($0.time) }
        switch expectation.what {
        case .count(let message, let count):
            let found = heard.count { $0.message == message }
            return found == count ? nil : "the machine hears \(found)"
        case .moves(let wanted):
            let moves = heard.map(\.message).filter { [.start, .stop, .continue].contains($0) }
            return moves == wanted ? nil : "the machine hears \(moves)"
        case .tempo(let tempo, let distance):
            return worst(during, from: [tempo], within: distance) { [$0.tempo] }
        case .lockedTempo(let distance): return wrongLock(during, within: distance)
        case .everyTempo(let tempos, let share):
            return worst(during, from: tempos, within: nil, share: share) { $0.sessionTempos }
        case .evenGaps(let distance): return unevenGap(during, within: distance)
        case .place(let distance, let early): return wrongPlace(during, within: distance, early: early)
        case .mode(let mode): return first(during) { $0.mode == mode ? nil : "\($0.mode.rawValue)" }
        case .playing(let isPlaying):
            return first(during) { $0.isPlaying == isPlaying ? nil : isPlaying ? "stopped" : "playing" }
        case .note(let text, let isThere):
            let notes = samples(during).flatMap(\.notes)
            guard notes.contains(where: { $0.contains(text) }) != isThere else { return nil }
            let others = Set(notes).sorted().joined(separator: "\", \"")
            return isThere ? "it is nowhere; there are \"\(others)\"" : "it is there"
        case .taps(let counted, let wanted):
            return first(during) {
                let reading = $0.taps
                guard reading?.counted != counted || reading?.wanted != wanted else { return nil }
                return reading.map { "\($0.counted) of \($0.wanted)" } ?? "none"
            }
        }
    }

    /// The samples of a time; for a moment, the last up to then.
    private func samples(_ during: ClosedRange<Double>) -> [Sample] {
        let found = samples.filter { during.contains($0.time) }
        return found.isEmpty ? Array(samples.prefix { $0.time <= during.lowerBound }.suffix(1)) : found
    }

    private func first(_ during: ClosedRange<Double>, _ fault: (Sample) -> String?) -> String? {
        let found = samples(during)
        guard !found.isEmpty else { return "the case is over by then" }
        for sample in found {
            if let fault = fault(sample) { return "at \(Self.text(sample.time)) s it is \(fault)" }
        }
        return nil
    }

    /// The tempo that is farthest from all of these, if too far.
    private func worst(
        _ during: ClosedRange<Double>, from wanted: [Double], within distance: Double?, share: Double = 0,
        _ tempos: (Sample) -> [Double]
    ) -> String? {
        first(during) { sample in
            tempos(sample).first { tempo in
                wanted.allSatisfy { abs(tempo - $0) > (distance ?? share * $0) }
            }.map { "\(Self.text($0)) BPM" }
        }
    }

    private func wrongLock(_ during: ClosedRange<Double>, within distance: Double) -> String? {
        first(during) { sample in
            guard let locked = sample.lockedTempo, let truth = trueTempo(at: sample.time) else { return nil }
            return abs(locked - truth) <= distance ? nil : "locked at \(Self.text(locked)) BPM, not \(Self.text(truth))"
        }
    }

    /// The tempo of the leader's clock at a time; nil while there is none.
    private func trueTempo(at time: Double) -> Double? {
        let truth = field.clocks.map(\.truth).last { $0.first.map { $0 <= time } == true }
        guard let truth, let next = truth.firstIndex(where: { $0 > time }), next > 0 else { return nil }
        return 2.5 / (truth[next] - truth[next - 1])
    }

    private func unevenGap(_ during: ClosedRange<Double>, within distance: Double) -> String? {
        let ticks = heard.filter { $0.message == .timingClock && during.contains($0.time) }.map(\.time)
        guard ticks.count > 1 else { return "the machine hears no ticks then" }
        let gaps = zip(ticks, ticks.dropFirst()).compactMap { before, after -> (time: Double, off: Double)? in
            trueTempo(at: before).map { (before, after - before - 2.5 / $0) }
        }
        guard let worst = gaps.max(by: { abs($0.off) < abs($1.off) }) else { return "no leader's clock runs then" }
        guard abs(worst.off) > distance else { return nil }
        return "at \(Self.text(worst.time)) s a gap is off by \(Self.text(worst.off * 1_000)) ms"
    }

    private func wrongPlace(_ during: ClosedRange<Double>, within distance: Double, early: Double) -> String? {
        var truth: [Int: [Double]] = [:]
        for clock in field.clocks {
            for (time, position) in zip(clock.truth, clock.positions) {
                if let position { truth[position, default: []].append(time - early) }
            }
        }
        let wanted = truth.values.joined().count { during.contains($0) }
        guard wanted > 0 else { return "no leader's song plays then" }
        let played = places.filter { during.contains($0.time) }
        let offs = played.compactMap { time, place -> (time: Double, off: Double)? in
            let off = truth[place]?.map { time - $0 }.min { abs($0) < abs($1) }
            return off.map { (time, $0) }
        }
        // A tick more or less may be inside.
        guard offs.count >= wanted - 1 else {
            return "the machine plays \(offs.count) ticks of the \(wanted) that its leader plays then"
        }
        guard let worst = offs.max(by: { abs($0.off) < abs($1.off) }), abs(worst.off) > distance else { return nil }
        return "at \(Self.text(worst.time)) s the machine is off by \(Self.text(worst.off * 1_000)) ms"
    }

    /// The ticks that our machine plays, with their places in the song.
    private var places: [(time: Double, place: Int)] {
        var (place, isPlaying): (Int, Bool) = (0, false)
        return heard.compactMap { time, message in
            switch message {
            case .start: (place, isPlaying) = (0, true)
            case .continue: isPlaying = true
            case .stop: isPlaying = false
            case .songPosition(let sixteenths): place = Int(sixteenths) * 6
            case .timingClock:
                guard isPlaying else { return nil }
                defer { place += 1 }
                return (time, place)
            }
            return nil
        }
    }

    /// With three decimals at most.
    private static func text(_ value: Double) -> String { "\((value * 1_000).rounded() / 1_000)" }
}
