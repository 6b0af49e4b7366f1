internal import ALSASequencer
internal import Arbiter
internal import GatewayStatus
internal import LoopGuard
internal import MIDIClock
internal import Synchronization

// The gateway thread's part with other machines' clocks.
extension GatewayCore {
    /// Takes what the input thread has heard.
    func take(_ events: [ClockInput.Event]) {
        if events.contains(.deviceChanged) { portsChanged() }
        for part in events.split(separator: .overflow, omittingEmptySubsequences: false).enumerated() {
            if part.offset > 0 { arbiter.messagesLost() }
            let arrivals = part.element.compactMap { if case .arrival(let arrival) = $0 { arrival } else { nil } }
            let reach = reach
            if !arrivals.isEmpty { conduct { $0.received(arrivals, reach: reach, at: $1) } }
        }
    }

    /// Tells the arbiter who can be heard, who of them is meant, and how our own clock may come to them.
    func sourcesChanged() {
        let offsets = rack.outputs.filter { $0.presence != .gone }.map(\.settings.offset)
        let sources = inputs.sources
        let paths = sources.paths(from: rack.outputs)
        driven = Set(paths.filter { if case .outputs = $0.value { true } else { false } }.keys)
        let masters = sources.masters(driven: driven)
        let heard = HeardClocks(
            choice: masters, names: sources.names, paths: paths,
            offsets: (offsets.min() ?? 0)...(offsets.max() ?? 0), remotes: sources.remotes)
        conduct { $0.hear(heard, at: $1) }
    }

    /// Brings outputs and inputs up to date with the ports there are.
    func portsChanged() {
        if rack.connectDevices() { boardChanged() }
        picture.withLock { $0.ports = rack.ports }
        hearDevices()
    }

    /// Brings inputs alone up to date.
    func hearDevices() {
        inputs.named = Dictionary(rack.outputs.compactMap(\.namedProfile)) { first, _ in first }
        if inputs.update(device: input?.device) { sourcesChanged() }
        controlsChanged()
    }

    /// What is wrong with the clocks that come in.
    var inputWarnings: [Status.Warning] {
        var warnings = inputs.sources.warnings(clockIn: input)
        if let leader = arbiter.leader {
            warnings += inputs.sources.heard(by: leader, among: rack.outputs).map { output in
                .init(
                    code: "leader-hears-us",
                    message:
                        "\(arbiter.leaderName ?? "the leader") leads and hears its own clock back on \(output.name)",
                    fix: "disconnect it: aconnect -d \(output.source?.description ?? "Tactus:0") \(leader)")
            }
        }
        warnings += inputs.sources.unsafeMasters(driven: driven).map { source in
            .init(
                code: "echoes",
                message: "\(inputs.sources.names[source] ?? "a machine") passes on what it hears, and hears this "
                    + "gateway, so it is not followed",
                fix: "take its output away to follow it, or follow another machine")
        }
        warnings += arbiter.loops.map { loop in
            .init(
                code: "loop", message: "\(loop.name) is not followed: \(loop.reason.explanation)",
                fix: "disconnect it from Clock In, or stop it from passing on what it receives")
        }
        warnings += arbiter.likelyLoops.map { name in
            .init(
                code: "maybe-loop", message: "\(name) may be this gateway's own clock come back; it is being tested",
                fix: "if it is a loop, disconnect one of its cables; else wait up to 32 beats")
        }
        return warnings
    }
}
