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
            guard !request.isTimeCode, !hasOutput(for: request),
                case .found(let port) = DeviceAssignment.find(
                    request.destination, among: devices, configuration.library)
            else { continue }
            let slot = all.firstIndex {
                $0.isAutomatic && $0.presence == .here && $0.connectedTo == port.address.description
            }
            if let slot { all[slot].name(request.destination) }
        }
    }

    private func hasOutput(for request: OutputRequest) -> Bool {
        all.contains { $0.isFor(request) && $0.presence == .here }
    }

    private mutating func settle(_ slot: Int, _ request: OutputRequest) {
        var request = request
        request.name = all[slot].request.name  // by which its settings are saved; another counts from the next start on
        all[slot].request.groups = request.groups
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
        for request in configuration.requests where !hasOutput(for: request) {
            let name = request.name ?? request.usualName
            if add(request.destination, name: name, request) { isNew = true } else { withoutSlot.named += 1 }
        }
        return isNew
    }
}

extension Output {
    /// Whether it is the output that the user asks for: of the same kind, for the same device.
    fileprivate func isFor(_ request: OutputRequest) -> Bool {
        destination == request.destination && self.request.isTimeCode == request.isTimeCode
    }
}
