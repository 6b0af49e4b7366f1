import BeatTime
import Benchmark
import LinkSession
import MIDIClock

// What one step of each engine costs. `make bench-micro` prints the table.

let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .throughput], scalingFactor: .kilo, maxDuration: .seconds(2))

    Benchmark("timeline: beat at a time and back") { benchmark in
        let timeline = HostTimeline(
            tempo: Tempo(beatsPerMinute: 133.7), beatOrigin: .zero, timeOrigin: HostTime(microseconds: 12_345))
        for step in benchmark.scaledIterations {
            let time = HostTime(microseconds: Int64(step) * 7_919)
            let beat = timeline.shownBeats(at: time, quantum: Beats(4))
            blackHole(timeline.time(ofShown: beat, quantum: Beats(4)))
        }
    }

    Benchmark("tick line: time of a tick") { benchmark in
        let line = TickLine(microsecondsPerBeat: 448_766, timeOrigin: HostTime(microseconds: 5), tickOrigin: 0)
        for tick in benchmark.scaledIterations { blackHole(line.time(ofTick: Int64(tick))) }
    }

    Benchmark("accumulator: what is owed at a time") { benchmark in
        var owed = RateAccumulator()
        owed.owe(5_000, at: HostTime(microseconds: 0))
        for step in benchmark.scaledIterations {
            blackHole(owed.debt(at: HostTime(microseconds: Int64(step) * 1_000)))
        }
    }

    Benchmark("accumulator: a step more") { benchmark in
        var owed = RateAccumulator()
        for step in benchmark.scaledIterations {
            owed.owe(step % 2 == 0 ? 300 : -290, at: HostTime(microseconds: Int64(step) * 20_000))
        }
        blackHole(owed)
    }

    for outputs in [1, 8, 64] {
        Benchmark("planner: a hundred ticks of each of \(outputs) outputs", configuration: .init(scalingFactor: .one)) {
            benchmark in
            var band = Band(outputs: outputs)
            benchmark.startMeasurement()
            for _ in 0..<100 { band.playTick() }
            benchmark.stopMeasurement()
            blackHole(band)
        }
    }

    Benchmark("codec: an announcement read") { benchmark in
        let presence = Presence()
        for _ in benchmark.scaledIterations { blackHole(presence.read()) }
    }

    Benchmark("engine: an announcement heard") { benchmark in
        let presence = Presence()
        var engine = presence.listener
        for step in benchmark.scaledIterations {
            blackHole(presence.heard(by: &engine, at: HostTime(microseconds: Int64(step) * 1_000)))
        }
    }
}
