internal import ALSASequencer
internal import Arbiter
internal import ConfigurationFiles
internal import LoopGuard
internal import MIDIClock

/// The clocks that can be received: subscribes the chosen port to `Clock In`, and lists the others.
struct SourceTable: Sendable {
    private(set) var sources: ClockSources
    /// How clocks are received; nil if they cannot be.
    var clockIn: ClockEntrance?
    /// Those of the machines whose clocks can be received that also receive ours.
    private(set) var driven: Set<ClockSource> = []

    /// A table without ports; ``update(_:_:own:_:profile:)`` finds them.
    init(_ choice: FollowChoice, clockIn: ClockEntrance?) {
        sources = ClockSources(choice)
        self.clockIn = clockIn
    }

    /// Refuses a name that matches several ports; a name that matches none may be that of an absent port.
    ///
    /// - Parameters:
    ///   - choice: the user's.
    ///   - senders: the ports that can be heard, without our own.
    /// - Throws: when the name matches several of them.
    func requireClear(_ choice: FollowChoice, among senders: [PortDescription]) throws(CommandError) {
        guard case .port(let name) = choice else { return }
        guard case .ambiguous(let several) = NameMatch(name, among: senders) else { return }
        throw .unclearName(UnclearName(name, meaning: several, among: senders))
    }

    /// Updates subscriptions and names to match the present ports.
    ///
    /// - Parameters:
    ///   - choice: whom to follow; nil keeps the present choice.
    ///   - patchbay: the ports and subscriptions; receives the wanted ones.
    ///   - own: numbers of the gateway's own clients.
    ///   - effects: receives what must be done.
    ///   - profile: returns a port's profile.
    /// - Returns: whether anything changed.
    mutating func update(
        _ choice: FollowChoice?, _ patchbay: inout Patchbay, own: Set<Int>, _ effects: inout GatewayEffects,
        profile: (PortDescription) -> Profile?
    ) -> Bool {
        let before = sources
        sources = ClockSources(choice ?? before.choice, ports: patchbay.list.ports, own: own, device: clockIn?.device)
        sources.recognise(patchbay.list.senders(except: own), by: profile)
        subscribe(&patchbay, &effects)
        if let device = clockIn?.device, device.isThere { sources.names[.device] = device.name }
        if let port = clockIn?.port {
            for sender in patchbay.list.senders(to: port) {
                let source = ClockSource(sender)
                sources.names[source] = patchbay.list[sender]?.fullName ?? sender.description
                if !patchbay.made.contains(.init(from: sender, to: port)) { sources.subscribedByUser.insert(source) }
            }
        }
        sources.graph = patchbay.list.graph
        return sources != before
    }

    /// Subscribes `Clock In` to the wanted sources, and removes our other subscriptions; the user's stay.
    private mutating func subscribe(_ patchbay: inout Patchbay, _ effects: inout GatewayEffects) {
        guard let port = clockIn?.port else {
            if case .port = sources.choice { sources.trouble = .noSequencer }
            return
        }
        let wanted = Set(sources.wanted.compactMap(PortAddress.init).map { Patchbay.Subscription(from: $0, to: port) })
        patchbay.unsubscribe(except: wanted, where: { $0.receiver == port }, &effects)
        for subscription in wanted.sorted() {
            if case .refused(let error) = patchbay.subscribe(subscription, &effects) {
                sources.cannotHear(ClockSource(subscription.sender), because: PortTrouble(subscribing: error))
            }
        }
    }

    /// Works out how our own clock may reach the machines that can be heard.
    ///
    /// - Parameters:
    ///   - outputs: by slot.
    ///   - period: the leader's audio period, if the configuration tells it.
    /// - Returns: what the arbiter must know of those machines.
    mutating func available(among outputs: [Output], period: AudioPeriod?) -> AvailableSources {
        let offsets = outputs.filter { $0.presence != .gone && $0.isClock }.map(\.settings.offset)
        let paths = sources.paths(from: outputs)
        driven = Set(paths.filter { if case .outputs = $0.value { true } else { false } }.keys)
        return AvailableSources(
            choice: sources.leaders(driven: driven), names: sources.names, paths: paths,
            offsets: (offsets.min() ?? 0)...(offsets.max() ?? 0), remotes: sources.remotes,
            periods: sources.names.keys.reduce(into: [:]) { periods, source in
                periods[source] = (sources.periods[source] ?? period)?.microseconds
            })
    }

    /// Tells that the clock to follow is absent; nil while it is there, or none was chosen.
    var absence: Notice? { sources.absence(clockIn) }

    /// What there is to tell about incoming clocks.
    ///
    /// - Parameters:
    ///   - arbiter: knows who leads, and which sources are our own clock.
    ///   - outputs: by slot.
    /// - Returns: one notice for each problem.
    func notices(_ arbiter: Arbiter, _ outputs: [Output]) -> [Notice] {
        var notices = sources.notices(clockIn)
        if let leader = arbiter.leader {
            notices += sources.heard(by: leader, among: outputs).map { output in
                .leaderHearsUs(
                    leader: arbiter.leaderName ?? "the leader", address: "\(leader)", output: output.name,
                    port: output.source?.description)
            }
        }
        notices += sources.unsafeLeaders(driven: driven).map { .echoes(sources.names[$0] ?? "a machine") }
        notices += arbiter.clocksHeardTwice.map(Notice.leaderTwice)
        notices += arbiter.loops.map { .loop($0.name, reason: $0.reason.explanation) }
        notices += arbiter.likelyLoops.map(Notice.likelyLoop)
        return notices
    }
}
