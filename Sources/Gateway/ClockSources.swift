internal import ALSASequencer
internal import Arbiter
internal import MIDIClock

/// Whose clocks can be heard, and which of them the user means.
struct ClockSources: Hashable, Sendable {
    let choice: FollowChoice
    /// The one source that may be followed; nil while it is away, and where the choice names none.
    var chosen: ClockSource?
    /// Whether the choice names a source that is not there.
    var isAway = false
    /// Why it is away, when there is more to say than that.
    var trouble: String?
    /// Everything that is subscribed to `Clock In` now, and the raw device while it is there, by the names people know.
    var names: [ClockSource: String] = [:]
    /// Who hears whom on the sequencer.
    var graph = SubscriptionGraph()

    init(_ choice: FollowChoice) { self.choice = choice }

    /// Finds what a choice means.
    ///
    /// - Parameters:
    ///   - choice: the user's.
    ///   - ports: all there are.
    ///   - own: the numbers of the gateway's own clients, which it does not follow.
    ///   - device: the raw device, if one is configured.
    init(_ choice: FollowChoice, ports: [PortDescription], own: Set<Int>, device: ClockInput.Device?) {
        self.choice = choice
        switch choice {
        case .off: break
        case .auto:
            guard let device else { break }
            if device.isThere { chosen = .device }
            (isAway, trouble) = (!device.isThere, device.trouble)
        case .port(let name):
            if let port = Self.find(name, among: ports.filter(\.isReadable), own: own, &trouble) {
                chosen = ClockSource(port.address)
            }
            isAway = chosen == nil
        }
    }

    /// Who may lead while Link is off.
    var masters: MasterChoice {
        switch choice {
        case .off: .none
        case .auto: chosen == nil && !isAway ? .anyOf(Set(names.keys)) : .only(chosen)
        case .port: .only(chosen)
        }
    }

    /// How what the outputs send may come to each source that can be heard.
    func paths(from outputs: [Output]) -> [ClockSource: LoopPath] {
        let ports = outputs.compactMap(\.source)
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
            return .gateway(slots, isFirst: own.client < source.client)
        }
        if case .card = graph.box(of: source.client) { return .outputs(slots) }
        return .program(slots)
    }

    /// Those of our own ports that a source hears by a subscription of the user's.
    func heard(by source: ClockSource, among outputs: [Output]) -> [Output] {
        guard let receiver = PortAddress(source) else { return [] }
        return outputs.filter { output in
            guard let sender = output.source, !output.hasOneDevice else { return false }
            return graph.subscriptions.contains(.init(from: sender, to: receiver))
        }
    }

    private static func find(
        _ name: String, among ports: [PortDescription], own: Set<Int>, _ trouble: inout String?
    ) -> PortDescription? {
        let others = ports.filter { !own.contains($0.address.client) }
        switch matches(name, among: others) {
        case .found(let port): return port
        case .ambiguous(let ports): trouble = ports.asAnswersToOneName
        case .none:
            if matches(name, among: ports) != .none { trouble = "that is a port of this gateway itself" }
        }
        return nil
    }

    private static func matches(_ name: String, among ports: [PortDescription]) -> PortMatch {
        guard case .address(let address) = PortAddress.read(name) else { return .find(name, among: ports) }
        return ports.first { $0.address == address }.map(PortMatch.found) ?? .none
    }
}

extension ClockSource {
    /// A port as the source that messages from it name.
    init(_ address: PortAddress) {
        self = .port(client: UInt8(clamping: address.client), port: UInt8(clamping: address.port))
    }
}

extension PortAddress {
    /// The port that a source is, if it is one.
    init?(_ source: ClockSource) {
        guard case .port(let client, let port) = source else { return nil }
        self.init(client: Int(client), port: Int(port))
    }
}

extension PortDescription {
    /// What people call the port: its own name if that tells the device, else the client's with it.
    var fullName: String { portName.hasPrefix(clientName) ? portName : "\(clientName):\(portName)" }
}

extension [PortDescription] {
    /// That a name means all of these, as a clause.
    var asAnswersToOneName: String {
        let names = map { "\($0.portName) (\($0.address))" }.joined(separator: ", ")
        return "several ports answer to that name: \(names)"
    }
}

extension ClockSources {
    /// What the user should know of the clocks that can, or cannot, be heard.
    func warnings(clockIn: ClockInput?) -> [Status.Warning] {
        var warnings: [Status.Warning] = []
        if isAway {
            let why = trouble.map { ": \($0)" } ?? ""
            let name = choice == .auto ? clockIn?.device?.name ?? choice.text : choice.text
            warnings.append(
                .init(
                    code: "clock-away", message: "the clock to follow, \(name), is away\(why)",
                    fix: "connect it; 'tactus ports' lists what is there"))
        }
        let isStamped = clockIn.map { $0.hasKernelStamps && $0.device?.hasKernelStamps != false } ?? true
        if !isStamped {
            warnings.append(
                .init(
                    code: "clock-stamps", message: "clocks that come in are stamped late, when they are read",
                    fix: "end programs that hold sequencer queues; a raw device needs Linux 5.14 or newer"))
        }
        return warnings
    }
}
