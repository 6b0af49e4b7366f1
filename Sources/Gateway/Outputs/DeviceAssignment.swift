internal import ALSASequencer
internal import ConfigurationFiles

/// Which device each output drives, matched by name, and which devices still need an output.
struct DeviceAssignment {
    /// The devices' ports, by slot of the output.
    private(set) var ports: [Int: PortDescription] = [:]
    /// Why an output has no device, by slot, if more is known than that it is absent.
    private(set) var troubles: [Int: PortTrouble] = [:]
    /// Slots of automatic outputs to remove: another output drives their device, or no profile recognizes it any more.
    private(set) var leavers: [Int] = []
    /// Slots of automatic outputs whose devices are absent.
    private(set) var away: [Int] = []
    /// Devices that a profile recognizes and no output drives yet.
    private(set) var newcomers: [PortDescription] = []

    /// Matches devices and outputs.
    ///
    /// Outputs that the user named come first. Each other device that a profile recognizes gets one output, unless the
    /// user already drives it by any of its ports. A device that returns gets the output it had.
    ///
    /// - Parameters:
    ///   - outputs: in the order of their slots.
    ///   - ports: those that accept messages, without our own.
    ///   - library: the profiles.
    ///   - connectsRecognised: whether recognized devices are driven without being named.
    init(
        _ outputs: [Output], among ports: [PortDescription], library: ProfileLibrary, connectsRecognised: Bool
    ) {
        for (slot, output) in outputs.enumerated() where output.presence == .here {
            switch Self.find(output.destination, among: ports, library) {
            case .found(let port): self.ports[slot] = port
            case .ambiguous(let several):
                troubles[slot] = PortTrouble(UnclearName(output.name, meaning: several, among: ports))
            case .none: break
            }
        }
        let driven = Set(self.ports.filter { outputs[$0.key].isClock }.values.map(\.address.client))
        var recognised = connectsRecognised ? Self.clockPorts(among: ports, library) : []
        recognised.removeAll { driven.contains($0.address.client) }
        assign(recognised, to: outputs)
        for (slot, output) in outputs.enumerated() where output.presence == .here {
            guard case .device(let device) = output.destination else { continue }
            if !connectsRecognised || self.ports[slot] == nil && ports.contains(where: { Device($0) == device }) {
                leavers.append(slot)
            } else if self.ports[slot] == nil {
                away.append(slot)
            }
        }
    }

    /// Finds the port that a name means; among several ports of one device, the one its profile names.
    static func find(
        _ destination: Destination, among ports: [PortDescription], _ library: ProfileLibrary
    ) -> NameMatch<PortDescription> {
        switch destination {
        case .virtual, .raw, .card, .device: return .none
        case .number(let address): return NameMatch(address.description, among: ports)
        case .name(let name):
            let match = NameMatch(name, among: ports)
            guard case .ambiguous(let several) = match, let port = clockPort(of: several, library) else { return match }
            return .found(port)
        }
    }

    /// The port of a device that takes the clock, by its profile; nil for several devices, or an unknown one.
    private static func clockPort(of ports: [PortDescription], _ library: ProfileLibrary) -> PortDescription? {
        let clients = Set(ports.map(\.address.client))
        return clients.count == 1 ? clockPorts(among: ports, library).first : nil
    }

    /// One port for each recognized device: the first one that its profile names.
    private static func clockPorts(among ports: [PortDescription], _ library: ProfileLibrary) -> [PortDescription] {
        var seen: Set<Int> = []
        return ports.filter { library.profile(of: $0) != nil && seen.insert($0.address.client).inserted }
    }

    private mutating func assign(_ recognised: [PortDescription], to outputs: [Output]) {
        var (free, waiting) = (recognised, [Int]())
        for (slot, output) in outputs.enumerated() where output.presence == .here {
            guard case .device(let device) = output.destination else { continue }
            if let index = free.firstIndex(where: { Device($0) == device }) {
                ports[slot] = free.remove(at: index)
            } else {
                waiting.append(slot)
            }
        }
        // A device plugged in elsewhere takes over its old output; an absent one keeps its output.
        for slot in waiting {
            guard case .device(let device) = outputs[slot].destination else { continue }
            if let index = free.firstIndex(where: device.isNamed(like:)) { ports[slot] = free.remove(at: index) }
        }
        newcomers = free
    }
}

extension ProfileLibrary {
    /// The profile that recognizes a port.
    func profile(of port: PortDescription) -> Profile? {
        profile(portName: port.portName, clientName: port.clientName)
    }
}
