internal import ALSASequencer
internal import BeatTime
internal import ConfigurationFiles

// How a reload changes the outputs.
extension OutputTable {
    /// Applies a new configuration; unchanged outputs keep running.
    ///
    /// - Parameters:
    ///   - configuration: replaces the present one.
    ///   - devices: the ports that accept messages.
    mutating func configure(_ configuration: OutputConfiguration, devices: [PortDescription]) {
        self.configuration = configuration
        adoptRecognised(among: devices)
        for slot in all.indices where all[slot].presence == .here {
            if all[slot].isAutomatic {
                var request = all[slot].request
                configuration.fit(&request)
                settle(slot, request)
            } else if let request = configuration.requests.first(where: { all[slot].isFor($0) }) {
                settle(slot, request)
            } else {
                remove(slot)
            }
        }
        addMissing()
    }

    /// Turns automatic outputs that the user now names into named ones, without interrupting them.
    private mutating func adoptRecognised(among devices: [PortDescription]) {
        for request in configuration.requests {
            let target = Output.Target(request.address)
            guard !request.isTimeCode, !hasOutput(for: request),
                case .found(let port) = DeviceAssignment.find(target, among: devices, configuration.library)
            else { continue }
            let slot = all.firstIndex {
                $0.isAutomatic && $0.presence == .here && $0.connectedTo == port.address.description
            }
            if let slot { all[slot].name(target) }
        }
    }

    private func hasOutput(for request: OutputRequest) -> Bool {
        all.contains { $0.isFor(request) && $0.presence == .here }
    }

    private mutating func settle(_ slot: Int, _ request: OutputRequest) {
        var request = request
        request.name = all[slot].request.name  // by which its settings are saved; another counts from the next start on
        // A profile that recognized the device stays if it still exists; one that the user no longer names does not.
        let recognised = all[slot].request.profile == nil ? all[slot].profile?.id : nil
        let profile = request.profile ?? recognised.flatMap { try? configuration.library.profile(id: $0) }
        guard request != all[slot].request || profile != all[slot].profile else { return }
        all[slot].configure(request, profile: profile)
    }

    /// Adds configured outputs that are missing, and counts those without a free slot.
    ///
    /// - Returns: whether one was added.
    @discardableResult
    mutating func addMissing() -> Bool {
        withoutSlot = (0, 0)
        var isNew = false
        for request in configuration.requests {
            let target = Output.Target(request.address)
            guard !hasOutput(for: request) else { continue }
            let name = request.name ?? target.name + (request.isTimeCode ? OutputRequest.timeCodeSuffix : "")
            if add(target, name: name, request) { isNew = true } else { withoutSlot.named += 1 }
        }
        return isNew
    }
}

extension Output {
    /// Whether it is the output that the user asks for: of the same kind, for the same device.
    fileprivate func isFor(_ request: OutputRequest) -> Bool {
        target == Target(request.address) && isClock != request.isTimeCode
    }
}

extension Output.Target {
    init(_ address: OutputAddress) {
        switch address {
        case .name(let name): self = .named(name)
        case .numeric(let client, let port): self = .numbered(PortAddress(client: client, port: port))
        case .virtual(let name): self = .subscribers(name)
        case .raw(let path, let speed): self = .line(path: path, bitsPerSecond: speed)
        }
    }

    /// The output's name.
    fileprivate var name: String {
        switch self {
        case .subscribers(let name), .named(let name): name
        case .numbered(let address): address.description
        case .line(let path, _): path
        case .device(let device): device.clientName
        }
    }
}
