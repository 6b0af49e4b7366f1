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
