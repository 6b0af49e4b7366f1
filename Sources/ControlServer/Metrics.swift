internal import GatewayStatus

/// A status in Prometheus's text format, version 0.0.4.
///
/// Names follow its conventions: base units, `_total` for counters, `_info` for text.
struct Metrics {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    init(_ status: Status) {
        gauge("build_info", "The running version.", [(["version": status.version], 1)])
        gauge("tempo_beats_per_minute", "The tempo in force.", [([:], status.tempo)])
        gauge("playing", "Whether the transport plays or is about to.", [([:], status.playing ? 1 : 0)])
        gauge("mode_info", "Who leads: link, follow or internal.", [(["mode": status.mode.rawValue], 1)])
        gauge("link_enabled", "Whether Link is switched on.", [([:], status.link.enabled ? 1 : 0)])
        gauge("link_peers", "Other Link programs in the session.", [([:], Double(status.link.peers))])
        gauge(
            "follower_info", "The state of following a MIDI clock.",
            [(["state": status.follower.state.rawValue, "source": status.follower.source ?? ""], 1)])
        gauge(
            "follower_jitter_seconds",
            "Standard deviation of a tick of the followed clock; absent if no clock is followed.",
            [status.follower.jitterMicroseconds].compactMap(\.self).map { ([:], $0 / 1e6) })
        counter(
            "refused_ticks_total", "Incoming clock ticks that were not obeyed.", [([:], status.follower.refusedTicks)])
        counter(
            "refused_transport_messages_total", "Incoming Starts, Stops and the like that were not obeyed.",
            [([:], status.follower.refusedTransport)])
        describe(status.outputs)
        gauge(
            "dispatch_info", "How ticks are sent, and the scheduling of the output thread.",
            [(["dispatch": status.realtime.dispatch, "scheduling": status.realtime.scheduling], 1)])
        gauge("memory_locked", "Whether memory stays in RAM.", [([:], status.realtime.memoryLocked ? 1 : 0)])
        histogram(
            "wake_up_latency_seconds", "How late the output thread wakes.",
            [([:], status.realtime.wakeUpLatencyMicroseconds)])
        gauge("warnings", "Warnings in force.", [([:], Double(status.warnings.count))])
    }

    private mutating func describe(_ outputs: [Status.Output]) {
        func each<Value>(_ value: (Status.Output) -> Value) -> [(Labels, Value)] {
            outputs.map { (["output": $0.id], value($0)) }
        }
        gauge(
            "output_info", "Name and profile of an output.",
            outputs.map { (["output": $0.id, "name": $0.name, "profile": $0.profile ?? ""], 1) })
        gauge("output_connected", "Whether a device hears the output.", each { $0.connected ? 1 : 0 })
        gauge("output_enabled", "Whether the output sends.", each { $0.enabled ? 1 : 0 })
        gauge("output_offset_seconds", "How far after the beat the output sends.", each { $0.offsetMilliseconds / 1e3 })
        counter("ticks_total", "Clock ticks sent.", each(\.ticks))
        counter("late_ticks_total", "Clock ticks sent more than a millisecond late.", each(\.lateTicks))
        counter("skipped_ticks_total", "Clock ticks left out because they were too late.", each(\.skippedTicks))
        let cards = outputs.compactMap { output in output.soundCard.map { (output.id, $0) } }
        gauge(
            "sound_card_rate_ppm", "By how much a sound card is faster than its sample rate says.",
            cards.compactMap { id, card in card.partsPerMillion.map { (["output": id], $0) } })
        counter(
            "sound_card_underruns_total", "How often a sound card fell silent because it was not written to in time.",
            cards.map { (["output": $0], $1.underruns) })
        histogram("tick_lateness_seconds", "How late clock ticks are sent.", each(\.latenessMicroseconds))
    }

    // The format

    private typealias Labels = KeyValuePairs<String, String>

    private mutating func gauge(_ name: String, _ help: String, _ samples: [(Labels, Double)]) {
        begin(name, "gauge", help)
        for (labels, value) in samples { add(name, Self.shown(labels), "\(value)") }
    }

    private mutating func counter(_ name: String, _ help: String, _ samples: [(Labels, Int)]) {
        begin(name, "counter", help)
        for (labels, value) in samples { add(name, Self.shown(labels), "\(value)") }
    }

    private mutating func histogram(_ name: String, _ help: String, _ samples: [(Labels, Status.Lateness?)]) {
        begin(name, "histogram", help)
        for (labels, lateness) in samples {
            guard let histogram = lateness?.histogram else { continue }
            let labels = Self.shown(labels)
            var count = 0
            for (index, more) in histogram.counts.enumerated() {
                count += more
                let limit = index < histogram.below.count ? "\(Double(histogram.below[index]) / 1e6)" : "+Inf"
                add("\(name)_bucket", "\(labels)\(labels.isEmpty ? "" : ",")le=\"\(limit)\"", "\(count)")
            }
            add("\(name)_sum", labels, "\(Double(histogram.sum) / 1e6)")
            add("\(name)_count", labels, "\(count)")
        }
    }

    private mutating func begin(_ name: String, _ type: String, _ help: String) {
        text += "# HELP tactus_\(name) \(help)\n# TYPE tactus_\(name) \(type)\n"
    }

    private mutating func add(_ name: String, _ labels: String, _ value: String) {
        text += labels.isEmpty ? "tactus_\(name) \(value)\n" : "tactus_\(name){\(labels)} \(value)\n"
    }

    private static func shown(_ labels: Labels) -> String {
        labels.map { "\($0)=\"\(escaped($1))\"" }.joined(separator: ",")
    }

    private static func escaped(_ text: String) -> String {
        // Few texts contain a backslash, a quote or a line break.
        guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x22 || $0 == 0x0A }) else { return text }
        return text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
