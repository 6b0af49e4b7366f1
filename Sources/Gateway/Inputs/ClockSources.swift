internal import ALSASequencer
internal import Arbiter
internal import ConfigurationFiles
internal import LoopGuard
internal import MIDIClock

/// The clocks that can be received, and the one the user chose.
struct ClockSources: Hashable, Sendable {
    let choice: FollowChoice
    /// The one source that may be followed; nil if it is absent or the choice names none.
    var chosen: ClockSource?
    /// Whether the choice names a source that is absent.
    var isAway = false
    /// Why it is absent, if more is known.
    var trouble: PortTrouble?
    /// Names of all ports subscribed to `Clock In`, and of the raw device while it is present.
    var names: [ClockSource: String] = [:]
    /// The sources that the user has subscribed to `Clock In`.
    var subscribedByUser: Set<ClockSource> = []
    /// The machines whose profiles allow them to lead.
    private(set) var leaders: Set<ClockSource> = []
    /// The machines whose Start and Stop act as a remote control.
    private(set) var remotes: Set<ClockSource> = []
    /// The machines that pass on what they receive.
    private(set) var echoing: Set<ClockSource> = []
    /// Audio periods of the machines whose profiles tell them.
    private(set) var periods: [ClockSource: AudioPeriod] = [:]
    /// The sequencer's subscriptions, as a graph.
    var graph = SubscriptionGraph()

    init(_ choice: FollowChoice) { self.choice = choice }

    /// Finds the sources that a choice means.
    ///
    /// - Parameters:
    ///   - choice: the user's.
    ///   - ports: all ports.
    ///   - own: numbers of the gateway's own clients, which are never followed.
    ///   - device: the raw device, if one is configured.
    init(_ choice: FollowChoice, ports: [PortDescription], own: Set<Int>, device: ClockInput.Device?) {
        self.choice = choice
        switch choice {
        case .off: break
        case .auto:
            guard let device else { break }
            if device.isThere { chosen = .device }
            (isAway, trouble) = (!device.isThere, device.trouble.map(PortTrouble.init(reading:)))
        case .port(let name):
            if let port = Self.find(name, among: ports.filter(\.isReadable), own: own, &trouble) {
                chosen = ClockSource(port.address)
            }
            isAway = chosen == nil
        }
    }

    /// Notes what the profiles say about the present machines.
    ///
    /// - Parameters:
    ///   - ports: those that can be heard, without our own.
    ///   - profile: returns a port's profile.
    mutating func recognise(_ ports: [PortDescription], by profile: (PortDescription) -> Profile?) {
        for port in ports {
            guard let input = profile(port)?.input else { continue }
            let source = ClockSource(port.address)
            if input.isLeader { leaders.insert(source) }
            if input.isRemoteControl { remotes.insert(source) }
            if input.echoes { echoing.insert(source) }
            periods[source] = input.period
        }
    }

    /// The sources to subscribe to `Clock In`.
    var wanted: Set<ClockSource> {
        let leaders = choice == .auto && chosen == nil ? leaders : []
        return remotes.union(leaders).union(chosen.map { [$0] } ?? [])
    }

    /// Notes that a source cannot be subscribed.
    mutating func cannotHear(_ source: ClockSource, because trouble: PortTrouble?) {
        guard source == chosen else { return }
        (chosen, isAway, self.trouble) = (nil, true, trouble)
    }

    /// Who may lead while Link is off.
    ///
    /// - Parameter driven: the machines that receive our clock; those of them that pass it on may not lead.
    /// - Returns: the choice for the arbiter.
    func leaders(driven: Set<ClockSource>) -> LeaderChoice {
        let unsafe = echoing.intersection(driven)
        return switch choice {
        case .auto where chosen == nil && !isAway:
            .anyOf(leaders.intersection(names.keys).union(subscribedByUser).subtracting(unsafe))
        case .off: .none
        case .auto, .port: .only(chosen.flatMap { unsafe.contains($0) ? nil : $0 })
        }
    }

    /// The machines that could lead if they did not send our own clock back.
    func unsafeLeaders(driven: Set<ClockSource>) -> [ClockSource] {
        let candidates = subscribedByUser.union(leaders).union(chosen.map { [$0] } ?? [])
        return candidates.intersection(echoing).intersection(driven).sorted { "\($0)" < "\($1)" }
    }

    /// How our outputs' clock may reach each source.
    func paths(from outputs: [Output]) -> [ClockSource: LoopPath] {
        let ports = outputs.filter { $0.hasPort && $0.isClock }.compactMap(\.source)
        return Dictionary(
            uniqueKeysWithValues: names.keys.map { source in
                guard let address = PortAddress(source) else { return (source, .unknown) }
                if ports.contains(address) { return (source, .ownPort) }
                let reaching = Set(graph.outputs(among: ports, reaching: address))
                let slots = outputs.indices.reduce(UInt64(0)) { slots, slot in
                    outputs[slot].source.map(reaching.contains) == true ? slots | 1 << UInt64(slot) : slots
                }
                return (source, path(of: address, slots: slots, ports))
            })
    }

    private func path(of source: PortAddress, slots: UInt64, _ ports: [PortAddress]) -> LoopPath {
        guard slots != 0, let own = ports.first else { return .unknown }
        if names[ClockSource(source)]?.hasPrefix("Tactus:") == true {
            return own.client < source.client ? .gateway : .unknown
        }
        if case .card = graph.owner(of: source.client) { return .outputs(slots) }
        return .program(slots)
    }

    /// Our own ports to which the user has subscribed a source.
    func heard(by source: ClockSource, among outputs: [Output]) -> [Output] {
        guard let receiver = PortAddress(source) else { return [] }
        return outputs.filter { output in
            guard output.isClock, let sender = output.source, !output.hasOneDevice else { return false }
            return graph.subscriptions.contains(.init(from: sender, to: receiver))
        }
    }

    private static func find(
        _ name: String, among ports: [PortDescription], own: Set<Int>, _ trouble: inout PortTrouble?
    ) -> PortDescription? {
        let others = ports.filter { !own.contains($0.address.client) }
        switch NameMatch(name, among: others) {
        case .found(let port): return port
        case .ambiguous(let several): trouble = PortTrouble(UnclearName(name, meaning: several, among: others))
        case .none:
            if NameMatch(name, among: ports) != .none { trouble = .ownPort }
        }
        return nil
    }
}

extension ClockSource {
    /// The source of messages from a port.
    init(_ address: PortAddress) {
        self = .port(client: UInt8(clamping: address.client), port: UInt8(clamping: address.port))
    }
}

extension PortAddress {
    /// The port of a source; nil if it is not a port.
    init?(_ source: ClockSource) {
        guard case .port(let client, let port) = source else { return nil }
        self.init(client: Int(client), port: Int(port))
    }
}

extension PortDescription {
    /// A readable name: the port's own if it begins with the client's, else both.
    var fullName: String { portName.hasPrefix(clientName) ? portName : "\(clientName):\(portName)" }
}

extension ClockSources {
    /// Tells that the clock to follow is absent; nil while it is there, or none was chosen.
    func absence(_ clockIn: ClockEntrance?) -> Notice? {
        guard isAway else { return nil }
        return .clockAway(choice == .auto ? clockIn?.device?.name ?? choice.text : choice.text, trouble)
    }

    /// What there is to tell about the clocks that can, or cannot, be heard.
    func notices(_ clockIn: ClockEntrance?) -> [Notice] {
        var notices = absence(clockIn).map { [$0] } ?? []
        let isStamped = clockIn.map { $0.hasKernelStamps && $0.device?.hasKernelStamps != false } ?? true
        if !isStamped { notices.append(.lateStamps) }
        return notices
    }
}
