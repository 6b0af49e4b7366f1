internal import ALSASequencer
internal import ConfigurationFiles

/// Which device each output drives, decided by names and never by numbers; and which devices still want an output.
struct DeviceAssignment {
    /// The devices' ports, by the slots of their outputs.
    private(set) var ports: [Int: PortDescription] = [:]
    /// Why outputs have none, by their slots, where there is more to say than that.
    private(set) var troubles: [Int: String] = [:]
    /// The slots of outputs that came by themselves and are to go: their device has another, or is no longer recognised.
    private(set) var leavers: [Int] = []
    /// The slots of outputs that came by themselves and whose devices are away.
    private(set) var away: [Int] = []
    /// Devices that a profile recognises and nobody drives yet.
    private(set) var newcomers: [PortDescription] = []

    /// Decides.
    ///
    /// What the user names comes first. Of the devices that profiles recognise each gets one output more, unless the
    /// user drives it already by any of its ports; and one that returns gets the output it had.
    ///
    /// - Parameters:
    ///   - outputs: in the order of their slots.
    ///   - ports: those that take messages, without our own.
    ///   - library: the profiles.
    ///   - connectsRecognised: whether recognised devices are driven without being named.
    init(
        _ outputs: [Output], among ports: [PortDescription], library: ProfileLibrary, connectsRecognised: Bool
    ) {
        for (slot, output) in outputs.enumerated() where output.presence == .here {
            switch Self.find(output.target, among: ports, library) {
            case .found(let port): self.ports[slot] = port
            case .ambiguous(let several):
                troubles[slot] = UnclearName(output.name, meaning: several, among: ports).description
            case .none: break
            }
        }
        let driven = Set(self.ports.values.map(\.address.client))
        var recognised = connectsRecognised ? Self.clockPorts(among: ports, library) : []
        recognised.removeAll { driven.contains($0.address.client) }
        assign(recognised, to: outputs)
        for (slot, output) in outputs.enumerated() where output.presence == .here {
            guard case .device(let device) = output.target else { continue }
            if !connectsRecognised || self.ports[slot] == nil && ports.contains(where: { Device($0) == device }) {
                leavers.append(slot)
            } else if self.ports[slot] == nil {
                away.append(slot)
            }
        }
    }

    /// Finds the port that a user's words mean: of one device's several ports the one that its profile names.
    static func find(
        _ target: Output.Target, among ports: [PortDescription], _ library: ProfileLibrary
    ) -> NameMatch<PortDescription> {
        switch target {
        case .subscribers, .line, .device: return .none
        case .numbered(let address): return NameMatch(address.description, among: ports)
        case .named(let name):
            let match = NameMatch(name, among: ports)
            guard case .ambiguous(let several) = match, let port = clockPort(of: several, library) else { return match }
            return .found(port)
        }
    }

    /// The one port of one device that takes the clock, as its profile says; nil for several devices, or a stranger.
    private static func clockPort(of ports: [PortDescription], _ library: ProfileLibrary) -> PortDescription? {
        let clients = Set(ports.map(\.address.client))
        return clients.count == 1 ? clockPorts(among: ports, library).first : nil
    }

    /// Of every recognised device one port: the first of those that its profile names.
    private static func clockPorts(among ports: [PortDescription], _ library: ProfileLibrary) -> [PortDescription] {
        var seen: Set<Int> = []
        return ports.filter { library.profile(of: $0) != nil && seen.insert($0.address.client).inserted }
    }

    private mutating func assign(_ recognised: [PortDescription], to outputs: [Output]) {
        var (free, waiting) = (recognised, [Int]())
        for (slot, output) in outputs.enumerated() where output.presence == .here {
            guard case .device(let device) = output.target else { continue }
            if let index = free.firstIndex(where: { Device($0) == device }) {
                ports[slot] = free.remove(at: index)
            } else {
                waiting.append(slot)
            }
        }
        // Plugged in somewhere else; and one that is gone keeps its output for as long as it is away.
        for slot in waiting {
            guard case .device(let device) = outputs[slot].target else { continue }
            if let index = free.firstIndex(where: device.isNamed(like:)) { ports[slot] = free.remove(at: index) }
        }
        newcomers = free
    }
}

extension ProfileLibrary {
    /// The profile that recognises a port.
    func profile(of port: PortDescription) -> Profile? {
        profile(portName: port.portName, clientName: port.clientName)
    }
}
