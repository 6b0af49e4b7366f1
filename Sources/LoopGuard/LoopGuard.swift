package import BeatTime
package import MIDIClock

/// Finds out which clock sources are our own clock coming back.
///
/// A source at another tempo than ours is not. One in step with us is suspected and tested: the outputs that may reach
/// it send ticks up to 1 % of a tick early or late, by the toss of a coin, and only our own clock moves with them.
///
/// A pure value of bounded size, for the gateway thread. Times are host times; distances are microseconds.
package struct LoopGuard: Sendable {
    /// The current probe and the slots that send it, one bit each; nil most of the time.
    package private(set) var probing: (slots: UInt64, probe: Probe)?
    /// Earliest and latest shift of our ticks by the outputs' offsets, in microseconds.
    package var offsets: ClosedRange<Int64> = 0...0
    private var sources: [GuardedSource] = []
    private var seed: UInt64
    private var former: TempoMap?
    /// Until then outputs may not be where the map says: they slew there, or are bent.
    private var slewingUntil = HostTime(microseconds: .min / 2)

    /// Most sources tracked; any others are never clear.
    package static let capacity = 8
    /// Silence in microseconds after which a source is tested again; at least eight ticks.
    private static let silence: Int64 = 1_000_000
    /// Largest move of our grid that needs no pause, and longest slew of outputs after a larger one, in microseconds.
    private static let (largestMove, longestSlew): (Int64, Int64) = (1_000, 5_000_000)
    /// Longest time until a change reaches the output thread, in microseconds.
    private static let propagationTime: Int64 = 8_000
    /// Longest delay of an echo, in microseconds, and most ticks of delay that are tried.
    private static let (longestWay, mostLags): (Int64, Int64) = (80_000, 64)

    /// - Parameter seed: decides the tosses; others should not be able to guess it.
    package init(seed: UInt64) { self.seed = seed }

    /// The present verdict on a source.
    package func verdict(of source: ClockSource) -> LoopVerdict {
        sources.first { $0.source == source }?.verdict ?? .untested
    }

    /// Sources that are probably loops, while tests still run; worth a warning.
    package var likelyLoops: [ClockSource] { sources.filter(\.isLikelyLoop).map(\.source) }

    /// Processes a Timing Clock.
    ///
    /// - Parameters:
    ///   - source: where it came from.
    ///   - time: when it arrived.
    ///   - map: where our ticks fall.
    ///   - isFollowed: whether we follow this source now.
    package mutating func received(from source: ClockSource, at time: HostTime, on map: TempoMap, isFollowed: Bool) {
        timePassed(to: time, on: map)
        guard let index = index(of: source, at: time) else { return }
        let question = probing.map { LoopQuestion(probe: $0.probe, lags: lags(map.line)) }
        sources[index].received(at: time, on: map, isFollowed: isFollowed, question)
        ask(at: time, on: map)
    }

    /// Notes the time: sources that were silent for long are tested again.
    package mutating func timePassed(to now: HostTime, on map: TempoMap) {
        follow(map, at: now)
        for index in sources.indices where !sources[index].isIdle && silentAt(sources[index], map) <= now {
            sources[index].fellSilent()
        }
        ask(at: now, on: map)
    }

    /// When the next source counts as silent unless it is heard; nil if there is none.
    package func nextDeadline(on map: TempoMap) -> HostTime? {
        sources.lazy.filter { !$0.isIdle && $0.path.reason == nil }.map { silentAt($0, map) }.min()
    }

    /// Notes the path that subscriptions give to a source.
    package mutating func pathChanged(of source: ClockSource, to path: LoopPath, at now: HostTime) {
        if let index = index(of: source, at: now) { sources[index].pathChanged(to: path) }
    }

    /// Forgets a source whose port is gone.
    package mutating func removed(_ source: ClockSource) { sources.removeAll { $0.source == source } }

    /// Notes until when outputs may be bent, or on their way back to their place.
    package mutating func outputsBent(until time: HostTime) { slewingUntil = max(slewingUntil, time) }

    private func silentAt(_ source: GuardedSource, _ map: TempoMap) -> HostTime {
        source.lastArrival.advanced(byMicroseconds: max(Self.silence, 8 * map.line.tickLength))
    }

    private mutating func index(of source: ClockSource, at time: HostTime) -> Int? {
        if let index = sources.firstIndex(where: { $0.source == source }) { return index }
        if sources.count >= Self.capacity {
            guard let silent = sources.firstIndex(where: \.isIdle) else { return nil }
            sources.remove(at: silent)
        }
        sources.append(GuardedSource(source, at: time))
        return sources.count - 1
    }

    /// Outputs slew after the map, and so do echoes: until they have arrived, drift proves nothing.
    private mutating func follow(_ map: TempoMap, at now: HostTime) {
        let old = former ?? map
        former = map
        if map.steps != old.steps {
            for index in sources.indices { sources[index].startOver() }
            probing = nil
        }
        let length = old.line.microsecondsPerBeat
        let hasNewTempo = abs(map.line.microsecondsPerBeat - length) > length / 1_000
        if hasNewTempo || abs(map.slewed &- old.slewed) > Self.largestMove {
            slewingUntil = max(slewingUntil, now.advanced(byMicroseconds: Self.longestSlew))
        }
        if now < slewingUntil { for index in sources.indices { sources[index].restartDrift() } }
    }

    /// Probes the outputs while a source needs a test; tests for echoes come first.
    private mutating func ask(at now: HostTime, on map: TempoMap) {
        let asking = sources.filter { $0.probeBlock != nil }
        guard let block = asking.compactMap(\.probeBlock).min() else { return probing = nil }
        if probing?.probe.blockLength != block {
            seed = seed &* 0x5851_F42D_4C95_7F2D &+ 0x1405_7B7E_F767_814F
            let start = map.nearestTick(to: now.advanced(byMicroseconds: Self.propagationTime)) + 1
            probing = (0, Probe(startTick: start, blockLength: block, seed: seed))
        }
        probing?.slots = asking.reduce(0) { $0 | $1.path.suspects }
    }

    /// Ticks that an echo may be late.
    private func lags(_ line: TickLine) -> ClosedRange<Int64> {
        func ticks(_ microseconds: Int64) -> Int64 { roundedToInteger(Double(microseconds) / Double(line.tickLength)) }
        let first = ticks(offsets.lowerBound - 1_000)
        return first...min(ticks(offsets.upperBound + Self.longestWay), first + Self.mostLags - 1)
    }
}

/// A probe that the outputs send, and how many ticks an echo of it may be late.
struct LoopQuestion: Sendable {
    let probe: Probe
    let lags: ClosedRange<Int64>
}
